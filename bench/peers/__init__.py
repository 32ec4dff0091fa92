"""The peers that bench/peers.py measures, one module each. They import their libraries when asked to, so that one that is
missing is one row less."""
