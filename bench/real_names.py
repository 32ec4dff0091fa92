"""The names of the data sets, and how they and seeds are given on the command line."""
import sys

SETS = ["cmapss", "beijing_pm25", "bike_sharing", "cascaded_tanks", "occupancy_detection", "robot_wall_following", "arem", "uea_JapaneseVowels",
        "uea_PenDigits"]
GENERATED = ["wiener_hammerstein", "bouc_wen", "two_tanks", "hardening_spring", "loan_log", "iris", "wine", "breast_cancer", "digits", "diabetes"]


def names_of(text, known, what):
    names = [n.strip() for n in text.split(",")] if text else list(known)
    for name in names:
        if name not in known:
            sys.exit(f"--{what}: expected some of {', '.join(known)}, got '{name}'")
    return names


def seeds_of(text):
    """5: seeds 1 to 5; 2-4 and 7,9 as they stand."""
    if "-" in text:
        first, last = text.split("-")
        return list(range(int(first), int(last) + 1))
    return [int(s) for s in text.split(",")] if "," in text else list(range(1, int(text) + 1))
