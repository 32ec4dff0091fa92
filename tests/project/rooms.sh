#!/usr/bin/env bash
# Every room includes only the rooms that remede/CMakeLists.txt lets it use: a header alone would not fail to link.
set -euo pipefail
wrong=0
declare -A allowed
while read -r room others; do allowed[$room]="$room $others"; done < <(sed -n 's/^remede_room(\([^)]*\))/\1/p' remede/CMakeLists.txt)
[ ${#allowed[@]} -gt 5 ] || { echo "expected the rooms in remede/CMakeLists.txt, found ${#allowed[@]}"; exit 1; }

for folder in remede/*/; do
  room=$(basename "$folder")
  [ -n "${allowed[$room]:-}" ] || { echo "$folder: not a room of remede/CMakeLists.txt"; wrong=1; continue; }
  while IFS=: read -r file line include; do
    used=$(sed 's/.*"\([a-z]*\)\/\([a-z_]*\).*/\1 \2/' <<<"$include")
    case $used in
      "remede "*) [[ " ${allowed[$room]} " == *" ${used#remede } "* ]] && continue ;;
      "hwy "*) continue ;;
    esac
    echo "$file:$line: $room may include ${allowed[$room]}, not $include"
    wrong=1
  done < <(grep -rn --include='*.h' --include='*.cpp' '^ *#include "' "$folder")
done

# The table in docs/architecture.md names the same rooms.
for room in "${!allowed[@]}"; do
  others=${allowed[$room]#"$room"}
  grep -qE "^\| $room \| ?$(sed 's/^ *//; s/ /, /g' <<<"$others") ?\|$" docs/architecture.md || { echo "docs/architecture.md: expected a row '$room |$others'"; wrong=1; }
done

# A program that only applies a model must not compile the readers: what stream.h includes, header by header.
seen=" "
walk() {
  [[ $seen == *" $1 "* ]] && return
  seen+="$1 "
  local next
  for next in $(sed -n 's/^ *#include "\(remede[^"]*\)".*/\1/p' "$1"); do walk "$next"; done
}
walk remede/stream/stream.h
case $seen in *" remede/data/"*) echo "stream.h: expected no header of data/, got$seen"; wrong=1 ;; esac
exit $wrong
