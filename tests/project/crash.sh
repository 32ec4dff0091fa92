#!/usr/bin/env bash
# A fit that is killed at random moments and resumed ends in the same bytes: a small version of bench/crash.py (./test --long: 200 kills).
set -euo pipefail
exec python3 bench/crash.py --kills 6
