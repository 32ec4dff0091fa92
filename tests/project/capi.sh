#!/usr/bin/env bash
# The C interface as others meet it: the functions of version 1 are there with their names and nothing else is, the header is C, and
# programs in C and Rust give the answers of the program.
set -euo pipefail
library=build/libremede_c.so
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$folder/exported"
[ "$(nm -D --defined-only "$library" | awk '$2 != "T" && $2 != "A"' | wc -l)" = 0 ] || { echo "$library: expected functions only"; exit 1; }
diff tests/capi/abi_1.txt "$folder/exported" || { echo "$library: expected the functions of version 1 (tests/capi/abi_1.txt), and no others"; exit 1; }
grep -oE 'remede_[a-z_]+\(' capi/remede.h | tr -d '(' | LC_ALL=C sort -u >"$folder/declared"
grep -v '_t$' "$folder/declared" | diff tests/capi/abi_1.txt - || { echo "capi/remede.h: expected the functions of the library"; exit 1; }
readelf -d "$library" | grep -q 'SONAME.*\[libremede_c.so.1\]'
readelf -d "$library" | grep NEEDED | grep -vqE 'libstdc|libgcc|libm\.|libc\.|ld-linux' && { echo "$library: expected no other libraries"; exit 1; }

build/remede generate fixed-delay --sequences 40 --seed 3 -o "$folder/data.csv" -q
build/remede train "$folder/data.csv" --recipe paper --updates 50 -o "$folder/model.json" -q
cut -d, -f3 "$folder/data.csv" | tail -n +2 | head -n 200 >"$folder/rows"
{ echo x1; cat "$folder/rows"; } | build/remede stream "$folder/model.json" --id none --time none -q | cut -d, -f2- | sed '1s/p_//g' >"$folder/expected"

# As numbers: the texts of a float differ between languages.
same() { python3 -c '
import struct, sys
read = lambda path: [[c if i == 0 else struct.pack("f", float(c)) for c in line.strip().split(",")] for i, line in enumerate(open(path))]
a, b = read(sys.argv[1]), read(sys.argv[2])
sys.exit(0 if a == b and len(a) == 201 else f"expected the same answers, got {a[:3]} and {b[:3]}")' "$1" "$2"; }

gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -Icapi examples/live.c -Lbuild -lremede_c -o "$folder/live"
LD_LIBRARY_PATH=build "$folder/live" "$folder/model.json" <"$folder/rows" >"$folder/by_c"
same "$folder/by_c" "$folder/expected"
LD_LIBRARY_PATH=build "$folder/live" none.json 2>"$folder/error" && { echo "expected an error"; exit 1; }
grep -q '^live: the model: none.json' "$folder/error"

if command -v rustc >/dev/null; then
  rustc -O -L native=build examples/live.rs -o "$folder/live_rs" 2>"$folder/log" || { cat "$folder/log"; exit 1; }
  LD_LIBRARY_PATH=build "$folder/live_rs" "$folder/model.json" <"$folder/rows" >"$folder/by_rust"
  same "$folder/by_rust" "$folder/expected"
fi
