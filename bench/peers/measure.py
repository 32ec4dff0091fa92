"""How everything is timed: contenders take turns, so that what else the machine does hits all of them, and the best and the
median turn are kept."""
import json
import os
import statistics
import subprocess
import time


class Turns:
    """Speeds of one contender, a number per turn."""

    def __init__(self):
        self.speeds = []

    @property
    def best(self):
        return max(self.speeds)

    @property
    def median(self):
        return statistics.median(self.speeds)


class Ours(Turns):
    """`remede benchmark` with these flags."""

    def __init__(self, program, what, flags, seconds):
        super().__init__()
        self.command = [program, "benchmark", what, "--json", "--seconds", str(seconds)] + [str(f) for f in flags]
        self.note = ""

    def turn(self):
        self.last = json.loads(subprocess.run(self.command, check=True, capture_output=True, text=True).stdout)
        self.speeds.append(self.last["best_steps_per_second"])


class Peer(Turns):
    """Something with run() that does `steps` steps."""

    def __init__(self, work, seconds, note=""):
        super().__init__()
        self.work, self.seconds, self.note = work, seconds, note
        work.run()

    def turn(self):
        """The best of three slices, as `remede benchmark` reports the best of its."""
        self.speeds.append(max(speed(self.work, self.seconds / 3) for _ in range(3)))


def speed(work, seconds):
    """Steps per second over about so many seconds, at least one run."""
    begin, runs, passed = time.perf_counter(), 0, 0.0
    while passed < seconds or runs == 0:
        work.run()
        runs += 1
        passed = time.perf_counter() - begin
    return runs * work.steps / passed


def best_of(make, batches, seconds):
    """The peer with the batch size at which a short trial is fastest."""
    best, speeds = None, {}
    for batch in batches:
        work = make(batch)
        work.run()
        speeds[batch] = speed(work, seconds / 3)
        if speeds[batch] == max(speeds.values()):
            best = work, batch
    return Peer(best[0], seconds, f"batch {best[1]}")


def best_of_ours(program, flags, batches, seconds):
    speeds = {}
    for batch in batches:
        trial = Ours(program, "train", flags + ["--batch", batch], seconds / 3)
        trial.turn()
        speeds[batch] = trial.best
    batch = max(speeds, key=speeds.get)
    ours = Ours(program, "train", flags + ["--batch", batch], seconds)
    ours.note = f"batch {batch}"
    return ours


def take_turns(contenders, rounds):
    for _ in range(rounds):
        for contender in contenders:
            contender.turn()


def task_model(program, folder):
    """A simplified model of the paper's first task, and its data; made once per folder."""
    data, model = f"{folder}/data.csv", f"{folder}/model.json"
    if not os.path.exists(model):
        subprocess.run([program, "generate", "fixed-delay", "-o", data], check=True, capture_output=True)
        subprocess.run([program, "train", data, "-o", model, "--quiet"], check=True, capture_output=True)
    return data, model
