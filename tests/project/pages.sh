#!/usr/bin/env bash
# What the pages promise is there: links lead somewhere, the README's program is the one that is compiled and run.
set -euo pipefail
wrong=0
complain() { echo "$*"; wrong=1; }

while IFS=: read -r page line target; do
  target=${target#](}
  target=${target%)}
  case $target in http:* | https:* | \#*) continue ;; esac
  [ -e "$(dirname "$page")/${target%%#*}" ] || complain "$page:$line: expected a file, got a link to '$target'"
done < <(grep -on --with-filename '](\([^)]*\))' README.md CONTRIBUTING.md CHANGELOG.md docs/*.md)

in_readme=$(awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md)
[ "$in_readme" = "$(grep -v '^// ' examples/remember.cpp)" ] ||
  complain "README.md: expected the program of examples/remember.cpp (without its first line), got another"

for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md; do
  grep -nE '/(home|root|work|tmp)/' "$page" && complain "$page: expected no path of some machine"
done
exit $wrong
