#!/usr/bin/env bash
# The parts of bench/cluster.py that need neither minutes nor a quiet machine: two ranks are not much slower than two threads, and the cost
# model reads the jobs of a fit. tests/project/mpi.sh and tests/python/test_dask.py have small versions of the others.
set -euo pipefail
[ -x build/remede-mpi ] && command -v mpirun >/dev/null || { echo "skipped: no MPI"; exit 0; }
if python3 -c 'import numpy' 2>/dev/null; then python=python3; else python=.venv/bin/python; fi  # large needs it
[ ! -x "$(command -v $python)" ] || $python bench/cluster.py --parts large --gigabytes 0.02 --starts 2 --updates 10
python3 bench/cluster.py --parts speed --repeats 1 --speed-starts 2 --speed-sequences 2 --most-updates 20 --least-speed 0.4
python3 bench/cluster.py --parts model --repeats 1 --model-starts 4 --task variable-delay --model-sequences 200
