#!/usr/bin/env bash
# A file that does not fit into the memory it is given: a small version of bench/large_file.py. Without the limit it takes half as much again.
set -euo pipefail
exec python3 bench/large_file.py --megabytes 256 --limit 160 --most 360
