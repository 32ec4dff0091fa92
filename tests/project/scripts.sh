#!/usr/bin/env bash
# The scripts at the root are sound and say what they expect; what they do is tested by running them (CONTRIBUTING.md).
set -euo pipefail
wrong=0
complain() { echo "$*"; wrong=1; }

for script in quickstart test .ci/run tools/install-packages tools/lint tests/project/*.sh; do
  bash -n "$script" || complain "$script: expected a bash script"
done
for script in quickstart test .ci/run tools/install-packages tools/lint; do
  [ -x "$script" ] || complain "$script: expected to be executable"
done

# expect_exit CODE WORDS COMMAND...: the command ends so and says the words.
expect_exit() {
  local code=$1 words=$2 said got=0
  shift 2
  said=$("$@" 2>&1 </dev/null) || got=$?
  [ $got = "$code" ] && [[ $said == *"$words"* ]] || complain "$*: expected exit $code and '$words', got exit $got and '$said'"
}
expect_exit 2 "expected one of packages" ./test no-such-step
expect_exit 0 "sanitize:" ./test --list
expect_exit 0 "browser:" ./test --list
expect_exit 0 "python:" ./test --list
for step in format lint lint_all long_tests long_python crash; do expect_exit 0 "$step:" ./test --list; done
expect_exit 0 "./test --quick" ./test --help
expect_exit 0 "./test --long" ./test --help
expect_exit 2 "expected build, python or test" tools/install-packages nothing
expect_exit 2 "usage" tools/install-packages

# The rooms that ./test sanitizes exist.
for room in $(sed -n 's/^sanitized=(\(.*\))$/\1/p' test); do [ -d "tests/$room" ] || complain "test: expected rooms in 'sanitized', got '$room'"; done

# Nobody to install packages: told in one line, nothing tried.
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for name in bash grep printf env dirname; do ln -s "$(command -v $name)" "$tools/$name"; done
printf '#!/usr/bin/env bash\nexit 1\n' | tee "$tools/apt-get" >"$tools/dpkg-query"
printf '#!/usr/bin/env bash\necho 1000\n' >"$tools/id"
chmod +x "$tools/apt-get" "$tools/dpkg-query" "$tools/id"
expect_exit 1 "neither root nor sudo" env PATH="$tools" bash tools/install-packages build
expect_exit 0 "libgtest-dev" env PATH="$tools" bash tools/install-packages --missing test
expect_exit 0 "chromium" env PATH="$tools" bash tools/install-packages --missing test
exit $wrong
