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
exit $wrong
