#!/usr/bin/env bash
# `remede serve` over real connections: the answers of `remede predict`, refusals, the saved state, a clean end.
set -euo pipefail
exec python3 tests/project/serve_test.py build/remede
