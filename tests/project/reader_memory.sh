#!/usr/bin/env bash
# Every reader keeps its memory in proportion to its input: a small version of bench/reader_memory.py.
set -euo pipefail
exec python3 bench/reader_memory.py --megabytes 4
