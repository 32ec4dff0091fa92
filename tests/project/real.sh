#!/usr/bin/env bash
# bench/real.py on a tiny generated data set: cells, resuming, tables. Needs numpy, in the benchmark's own environment or the machine's.
set -euo pipefail
for python in build/real-venv/bin/python python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then exec "$python" tests/project/real_test.py; fi
done
exec python3 tests/project/real_test.py --without-numpy
