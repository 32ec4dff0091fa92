#!/usr/bin/env python3
"""Kills `remede train` again and again, resumes it, and compares bytes.

    bench/crash.py --kills 200         build/remede and build/libremede_faults.so must be built (./test release)

Each trial trains the same data with the same settings. The run is killed (SIGKILL) either after a random time or at a random moment of
one of its saves: before, after or in the middle of a call that creates, writes, flushes, renames or removes a file
(tests/faults/faults.cpp). Runs that are resumed may be killed again. After each kill the model file must be the old one or the new
one, whole, and the checkpoint absent or whole; at the end the model must equal, byte for byte, that of a run nobody disturbed.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KILLED = -9
OLD_MODEL = b"the model of an earlier run\n"
RECIPES = {  # name: flags of a fit of a few seconds, which saves several times
    "default": ["--starts", "16"],
    "paper": ["--recipe", "paper", "--updates", "60000", "--patience", "60000", "--depth", "4"],
}


class Trials:
    def __init__(self, args, folder):
        self.remede = str(pathlib.Path(args.build).resolve() / "remede")
        self.faults = str(pathlib.Path(args.build).resolve() / "libremede_faults.so")
        self.folder = pathlib.Path(folder)
        self.random = random.Random(args.seed)
        self.kills = {"time": 0, "moment": 0}
        self.resumed = self.again = self.wrong = 0
        subprocess.run([self.remede, "generate", "fixed-delay", "--delay", "3", "--sequences", "300", "-o", "data.csv", "-q"], cwd=folder, check=True)
        self.reference = {}
        for name in args.recipes.split(","):
            log = self.folder / f"{name}.log"
            began = time.monotonic()
            code = self.run(self.train(name, f"{name}.json", f"{name}.state"), {"REMEDE_FAULT_LOG": str(log)})
            assert code == 0, f"{name}: expected the undisturbed run to end with 0, got {code}"
            seconds, moments = time.monotonic() - began, len(log.read_text().splitlines())
            self.reference[name] = ((self.folder / f"{name}.json").read_bytes(), seconds, moments)
            print(f"{name}: {seconds:.1f} s and {moments} moments undisturbed", flush=True)

    @staticmethod
    def train(recipe, model, state):
        return ["train", "data.csv", "-o", model, "--checkpoint", state, "--threads", "1", "-q", *RECIPES[recipe]]

    def run(self, words, environment=None, kill_after=None):
        """The exit code; KILLED when a signal ended it."""
        child = subprocess.Popen([self.remede, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, env={**os.environ, **({"LD_PRELOAD": self.faults, **environment} if environment else {})})
        try:
            _, self.said = child.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            child.kill()
            _, self.said = child.communicate()
        return child.returncode

    def run_to_a_kill(self, words, seconds, moments):
        """Whether the run was killed; a run that is faster than its kill ends by itself."""
        if self.random.random() < 0.5:
            kind, code = "time", self.run(words, kill_after=self.random.uniform(0, seconds))
        else:
            kind, code = "moment", self.run(words, {"REMEDE_FAULT_AT": str(self.random.randint(1, moments))})
        self.kills[kind] += code == KILLED
        return code == KILLED

    def complain(self, trial, what):
        self.wrong += 1
        print(f"trial {trial}: {what}", flush=True)

    def trial(self, number):
        recipe = self.random.choice(sorted(self.reference))
        whole, seconds, moments = self.reference[recipe]
        model, state = self.folder / f"{number}.json", self.folder / f"{number}.state"
        with_old = self.random.random() < 0.5
        if with_old:
            model.write_bytes(OLD_MODEL)
        words, killed = self.train(recipe, model.name, state.name), False
        for attempt in range(3):  # the run, and up to two that resume it
            if not self.run_to_a_kill(words, seconds, moments):
                break
            killed = True
            self.again += attempt > 0
            there = model.read_bytes() if model.exists() else None
            if there not in (whole, OLD_MODEL if with_old else None):
                return self.complain(number, f"expected the old model or the new one after a kill, got {len(there or b'')} bytes")
            words = ["train", "--resume", state.name, "-q"] if state.exists() else self.train(recipe, model.name, state.name)
            if self.random.random() < 0.6:
                break
        self.resumed += killed and state.exists()
        if killed:
            code = self.run(words)
            if code != 0:
                return self.complain(number, f"expected the last run to end with 0, got {code}: {self.said.decode(errors='replace').strip()}")
        if not model.exists() or model.read_bytes() != whole:
            self.complain(number, "expected the bytes of the undisturbed run, got others")
        for file in self.folder.glob(f"{number}.*"):
            file.unlink()
        return killed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="trials in which the run is killed at least once")
    parser.add_argument("--recipes", default="default,paper", help="which fits: default, paper")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default="build", help="the folder of remede and libremede_faults.so")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(args, folder)
        done = number = 0
        while done < args.kills and not trials.wrong:
            number += 1
            done += trials.trial(number) is True
    print(f"{done} of {args.kills} killed runs ended in the same bytes: {trials.kills['time']} kills at a random time, "
          f"{trials.kills['moment']} in the middle of a save, {trials.again} of them of a resumed run; {trials.resumed} runs resumed from a checkpoint")
    sys.exit(1 if trials.wrong else 0)


if __name__ == "__main__":
    main()
