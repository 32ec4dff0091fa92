"""The parts of bench/real.py: data sets, peers, remede, scores and the table."""
