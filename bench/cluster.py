#!/usr/bin/env python3
"""Training on several processes: same bytes, speed, kills, Dask, and a cost model.

    bench/cluster.py                     all parts; build/remede, build/remede-mpi and build/bench/shared_fit must be built (./test release)
    bench/cluster.py --parts bytes,speed

bytes    1 to 4 ranks with 1 and 2 threads each against a single process, on generated tasks and public data
shard    the same with --shard rows: each rank holds a part of the rows
speed    two ranks with one thread each against one process with two threads, and the bytes sent
large    a generated file of --gigabytes (needs numpy) over 4 ranks whose anonymous memory is limited to 1 GB each: time and memory of each rank
kills    a random rank is killed at a random time; the run is resumed with another number of ranks, until it ends
dask     a LocalCluster of two workers: same bytes, also when one is killed; fit_many against sequential fits (needs remede[dask] in this Python)
model    a cost model from the jobs of a fit, checked against runs behind a slow wire, and its forecast for many machines
"""
import argparse
import heapq
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
TASKS = {"fixed-delay": 300, "variable-delay": 300, "flip-flop": 200, "temporal-order": 300, "runoff": 3}
REAL = {
    "JapaneseVowels": ["uea_JapaneseVowels/JapaneseVowels_TRAIN.ts"],
    "bike sharing": ["bike_sharing/hour.csv", "--id", "dteday", "--time", "hr", "--target", "cnt", "--ignore", "instant", "--ignore", "casual", "--ignore", "registered"],
}
MPI = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        build = (ROOT / args.build).resolve()
        self.remede, self.with_mpi, self.shared_fit = str(build / "remede"), str(build / "remede-mpi"), str(build / "bench" / "shared_fit")
        self.wrong = 0

    def complain(self, what):
        self.wrong += 1
        print(f"WRONG: {what}", flush=True)

    def generate(self, task, sequences):
        path = self.folder / f"{task}-{sequences}.csv"
        if not path.exists():
            subprocess.run([self.remede, "generate", task, "--sequences", str(sequences), "-q", "-o", str(path)], check=True)
        return str(path)

    def alone(self, words, model, threads=2):
        began = time.monotonic()
        subprocess.run([self.remede, "train", *words, "-o", model, "--threads", str(threads), "-q"], cwd=self.folder, check=True, capture_output=True)
        return time.monotonic() - began

    @staticmethod
    def launch(ranks, words):
        return ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *words]

    def ranks(self, ranks, words, model, threads=1):
        began = time.monotonic()
        done = subprocess.run(self.launch(ranks, [self.with_mpi, "train", *words, "-o", model, "--threads", str(threads), "-v"]), cwd=self.folder, env=MPI,
                              check=True, capture_output=True, text=True)
        return time.monotonic() - began, done.stderr

    def same(self, one, other, what):
        if (self.folder / one).read_bytes() != (self.folder / other).read_bytes():
            self.complain(f"{what}: expected the bytes of one process, got others")
            return False
        return True

    def limit(self, *words):
        return [*words, str(self.args.most_updates)] if self.args.most_updates else []

    # The parts

    def bytes(self):
        self.same_bytes([])

    def shard(self):
        self.same_bytes(["--shard", "rows"])

    def same_bytes(self, how):
        sets = {task: [self.generate(task, n)] for task, n in TASKS.items()}
        for name, (path, *roles) in REAL.items():
            if (DATA / path).exists():
                sets[name] = [str(self.cut(DATA / path) if how else DATA / path), *roles]
            else:
                print(f"{name}: skipped: no {path}")
        effort = [*how, "--starts", str(self.args.starts), "--updates", str(self.args.updates)]
        for name, words in sets.items():
            self.alone([*words, *effort], "one.json")
            runs = [(ranks, threads) for ranks in range(1, self.args.most_ranks + 1) for threads in (1, 2)]
            good = 0
            for ranks, threads in runs:
                self.ranks(ranks, [*words, *effort], "many.json", threads)
                good += self.same("one.json", "many.json", f"{name}, {ranks} ranks, {threads} threads")
            print(f"{name}: {good} of {len(runs)} runs with 1 to {self.args.most_ranks} ranks and 1 or 2 threads gave the bytes of one process", flush=True)

    def cut(self, path):
        """A .ts file as CSV, which can be read in parts."""
        if path.suffix != ".ts":
            return path
        table = self.folder / f"{path.stem}.csv"
        with open(path) as lines, open(table, "w") as to:
            series = None
            for line in lines:
                if line.lower().startswith("@data"):
                    series = 0
                elif series is not None and line.strip():
                    *channels, label = line.strip().split(":")
                    channels = [channel.split(",") for channel in channels]
                    if series == 0:
                        to.write(",".join(["id", *(f"x{i + 1}" for i in range(len(channels))), "class"]) + "\n")
                    for step, values in enumerate(zip(*channels)):
                        to.write(",".join([str(series), *values, label if step + 1 == len(channels[0]) else ""]) + "\n")
                    series += 1
        return table

    def large(self):
        ranks, most = 4, 1 << 30
        with tempfile.TemporaryDirectory(dir=self.args.folder) as folder:
            data = pathlib.Path(folder) / "large.csv"
            began = time.monotonic()
            rows = write_large(data, int(self.args.gigabytes * 1e9))
            print(f"{data.stat().st_size / 1e9:.2f} GB of CSV, {rows} rows, written in {time.monotonic() - began:.0f} s", flush=True)
            words = [self.with_mpi, "train", str(data), "--shard", "rows", "--memory-limit", "768M", "--simplify", "no", "--starts", str(self.args.starts),
                     "--updates", str(self.args.updates), "--threads", "1", "-v", "-o", "large.json"]
            limited = f"ulimit -d {most >> 10}; exec {shlex.join(words)}"  # KB of memory that is not a mapped file
            began = time.monotonic()
            run = subprocess.Popen(self.launch(ranks, ["sh", "-c", limited]), cwd=self.folder, env={**MPI, "TMPDIR": folder}, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
            peak = {}
            while run.poll() is None:
                for pid in subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split():
                    for name, kilobytes in memory_of(pid).items():
                        peak.setdefault(pid, {})[name] = max(kilobytes, peak.get(pid, {}).get(name, 0))
                time.sleep(0.2)
            took, said = time.monotonic() - began, run.stdout.read()
        print("".join(line + "\n" for line in said.splitlines() if "held by" in line or line.startswith(("validation", "size", "4 ranks", "remede"))), end="")
        for rank, (_, memory) in enumerate(sorted(peak.items(), key=lambda item: int(item[0]))):
            print(f"rank {rank}: at most {memory['VmHWM'] / 1024:.0f} MB resident, of these {memory['RssAnon'] / 1024:.0f} MB of its own and {memory['RssFile'] / 1024:.0f} MB of mapped files")
        print(f"trained in {took:.0f} s", flush=True)
        if run.returncode or len(peak) != ranks:
            self.complain(f"large: expected {ranks} ranks that train, got exit code {run.returncode} and {len(peak)} ranks")
        if any(memory["VmHWM"] * 1024 > most for memory in peak.values()):
            self.complain("large: expected at most 1 GB resident in each rank")

    def speed(self):
        ratios, cpus, ones, twos = [], [], [], []
        words = [self.generate(self.args.task, self.args.speed_sequences), "--starts", str(self.args.speed_starts), *self.limit("--updates")]
        for _ in range(self.args.repeats):
            start = children_cpu()
            one = self.alone(words, "one.json")
            middle = children_cpu()
            two, said = self.ranks(2, words, "two.json")
            cpus.append((children_cpu() - middle) / (middle - start))
            self.same("one.json", "two.json", "speed")
            ratios.append(one / two)
            ones.append(one)
            twos.append(two)
            print(f"one process, two threads: {one:.1f} s; two ranks, one thread each: {two:.1f} s; speed {one / two:.2f} of one process", flush=True)
        jobs, sent, received = map(int, re.search(r"(\d+) jobs were sent, (\d+) bytes; the answers had (\d+) bytes", said).groups())
        rounds = sum("round" in line and "stage" in line for line in said.splitlines())
        best = min(ones) / min(twos)  # other programs only make a run longer
        print(f"speed {best:.2f} of one process by the best runs, {statistics.median(ratios):.2f} by the median of the ratios, with {statistics.median(cpus):.2f} times the processor time; {jobs} jobs, {sent} bytes sent, {received} received: {(sent + received) / max(jobs, 1):.0f} bytes per job, "
              f"{(sent + received) / max(rounds, 1):.0f} per round of the search")
        if best < self.args.least_speed:
            self.complain(f"expected at least {self.args.least_speed} of the speed of one process")

    def kills(self):
        pick = random.Random(self.args.seed)
        words = [self.generate("runoff", 2), "--starts", "8", "--memory", "3"]
        whole = self.alone(words, "whole.json", 1)
        longest, resumed, done, unnamed = 0.0, 0, 0, 0
        while done < self.args.kills and not self.wrong:
            for file in ("late.json", "state"):
                (self.folder / file).unlink(missing_ok=True)
            ranks = pick.randint(2, 4)
            end, named = self.killed_run(self.launch(ranks, [self.with_mpi, "train", *words, "-o", "late.json", "--checkpoint", "state", "--threads", "1", "-q"]),
                                         pick.uniform(0.3, whole), pick.randrange(ranks))
            if end is None:
                continue  # it was faster than its kill
            done += 1
            unnamed += not named
            longest = max(longest, end)
            if (self.folder / "state").exists():
                resumed += 1
                again = ["--resume", "state"]
            else:
                again = [*words, "-o", "late.json"]
            other = pick.choice([n for n in (1, 2, 3) if n != ranks])
            subprocess.run(self.launch(other, [self.with_mpi, "train", *again, "--threads", "1", "-q"]), cwd=self.folder, env=MPI, check=True, capture_output=True)
            self.same("whole.json", "late.json", f"kill {done}")
        print(f"{done} killed runs: the longest took {longest:.1f} s to end; {done - unnamed} named the rank; {resumed} were resumed from a checkpoint with another "
              f"number of ranks; {self.wrong} ended in other bytes")
        if longest > 5:
            self.complain("expected every run to end within 5 s of the kill")

    def killed_run(self, words, after, rank):
        """Seconds from the kill to the end, and whether the rank was named; None where the run was faster."""
        run = subprocess.Popen(words, cwd=self.folder, env=MPI, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(after)
        children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
        if run.poll() is not None or rank >= len(children):
            run.communicate()
            return None, False
        began = time.monotonic()
        try:
            os.kill(int(children[rank]), signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, said = run.communicate(timeout=60)
        return (time.monotonic() - began, f"rank {rank}" in said) if run.returncode else (None, False)

    def dask(self):
        try:
            import distributed
            import numpy as np
            import pandas as pd

            import remede
        except ImportError as error:
            print(f"dask: skipped: {error}")
            return
        distributed.utils.logging.getLogger("distributed").setLevel("ERROR")
        X, y = remede.generate("variable-delay", sequences=300, seed=1)
        kind = dict(starts=self.args.starts, random_state=1, n_jobs=1)
        alone = remede.RecurrentTreeClassifier(**kind).fit(X, y).to_text()
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, distributed.Client(cluster) as client:
            good = remede.RecurrentTreeClassifier(**kind).fit(X, y, client=client).to_text() == alone
            killed = []

            def kill_one(_):
                if not killed:
                    killed.extend(client.run(os.getpid).values())
                    os.kill(killed[0], signal.SIGKILL)

            good_after_kill = remede.RecurrentTreeClassifier(**kind).fit(X, y, client=client, callbacks=kill_one).to_text() == alone
            print(f"Dask, two workers: same model {good}; with a worker killed during the fit {good_after_kill}", flush=True)
            if not (good and good_after_kill and killed):
                self.complain("Dask: expected the model of one process")
            client.wait_for_workers(2)
            pick = np.random.default_rng(1)
            n, steps = self.args.groups, 40
            frame = pd.DataFrame({"customer": np.repeat(np.arange(n), steps), "day": np.tile(np.arange(steps), n), "x": pick.normal(size=n * steps)})
            frame["y"] = frame.groupby("customer")["x"].transform(lambda x: x.rolling(3, min_periods=1).mean())
            estimator = remede.RecurrentTreeRegressor(id="none", time="day", starts=2, updates=20, effort="quick", max_numbers=20, random_state=1, n_jobs=1)
            rates = []
            for _ in range(self.args.repeats):
                began, cpu = time.monotonic(), time.process_time()
                one = remede.fit_many(frame, by="customer", estimator=estimator)
                sequential, alone_cpu = time.monotonic() - began, time.process_time() - cpu
                before, began, cpu = client.run(time.process_time), time.monotonic(), time.process_time()
                many = remede.fit_many(frame, by="customer", estimator=estimator, client=client)
                parallel, after = time.monotonic() - began, client.run(time.process_time)
                busiest = max(after[worker] - before[worker] for worker in after) + (time.process_time() - cpu) / 2  # and its share of the client's work
                rates.append(sequential / parallel)
                print(f"fit_many, {n} groups: sequential on one thread {sequential:.1f} s, two workers {parallel:.1f} s: {sequential / parallel:.2f} times the throughput; "
                      f"by processor time {alone_cpu:.1f} s and {busiest:.1f} s: {alone_cpu / busiest:.2f} times", flush=True)
                if any(one[k].to_text() != many[k].to_text() for k in one):
                    self.complain("fit_many: expected the same models")
            if statistics.median(rates) < self.args.least_throughput:
                self.complain(f"fit_many: expected at least {self.args.least_throughput} times the throughput")

    def model(self):
        data = self.generate(self.args.task, self.args.model_sequences)
        maps, serial = self.jobs(data, self.args.model_starts)
        work = sum(job[0] for jobs in maps for job in jobs)
        count, sent = sum(map(len, maps)), sum(job[1] for jobs in maps for job in jobs)
        print(f"cost model of a fit with --starts {self.args.model_starts}: {len(maps)} maps, {count} jobs of {work:.1f} CPU s, {serial:.1f} s not shared, "
              f"{sent} bytes, {sent / len(maps):.0f} per map, {sent / count:.0f} per job")
        # One thread behind the wire does all jobs: it needs one processor, which a busy machine can spare.
        base = None
        for latency, rate in ((0, 0), (5, 0), (20, 0), (0, 2), (20, 2)):
            measured = min(float(subprocess.run([self.shared_fit, data, str(self.args.model_starts), "run", str(latency), str(rate), *self.limit()], check=True, capture_output=True,
                                                text=True).stdout.split()[0]) for _ in range(self.args.repeats))
            predicted = serial + sum(makespan(jobs, 0, 1, latency / 1000, rate * 1e6) for jobs in maps)
            base = base or (measured, predicted)
            print(f"  one thread behind {latency} ms and {f'{rate} MB/s' if rate else 'any bandwidth'}: measured {measured:.1f} s ({measured / base[0]:.2f} times), "
                  f"predicted {predicted:.1f} s ({predicted / base[1]:.2f} times)", flush=True)
        self.forecast(maps, serial)

    def jobs(self, data, starts):
        said = subprocess.run([self.shared_fit, data, str(starts), "jobs", *self.limit()], check=True, capture_output=True, text=True).stdout.splitlines()
        maps, serial = {}, 0.0
        for line in said:
            words = line.split()
            if words[0] == "serial":
                serial = max(0.0, float(words[1]))
            else:
                maps.setdefault(int(words[0]), []).append((float(words[2]), int(words[3]) + int(words[4])))
        return [maps[m] for m in sorted(maps)], serial

    def forecast(self, maps, serial):
        """Nodes of 16 threads, 50 microseconds and 10 Gbit/s apart."""
        for starts in (1, 30, 300):
            wide = [sorted(jobs * starts, reverse=True) for jobs in maps]
            base = serial + sum(makespan(jobs, 16, 0, 0, 0) for jobs in wide)
            line = []
            for nodes in (10, 100, 1000):
                here = serial + sum(makespan(jobs, 16, 16 * (nodes - 1), 5e-5, 1.25e9) for jobs in wide)
                line.append(f"{nodes} nodes {here:.1f} s, {base / here:.1f} times")
            print(f"  forecast, {starts} times as many starts, nodes of 16 threads: one node {base:.1f} s; " + "; ".join(line), flush=True)


def memory_of(pid):
    """KB, as the system says; nothing where the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(text.split()[0]) for name, _, text in (line.partition(":") for line in lines) if name in ("VmHWM", "RssAnon", "RssFile")}


def write_large(path, size):
    """Sequences of 20 steps with ids of their own; y follows x1 with a memory, and x2 where x3 is large. Eight different blocks of 20,000 sequences take
    turns, and all rows have the same length: then the file is written as fast as the disk takes it."""
    import numpy as np

    pick, steps, columns, sequences, blocks = np.random.default_rng(1), 20, 8, 20000, []

    def digits(values, count):  # (...) -> (..., count)
        return (values[..., None] // 10 ** np.arange(count - 1, -1, -1) % 10 + ord("0")).astype(np.uint8)

    def cells(values):  # 0.0000 to 9.9999, with a separator in front
        text = digits(np.clip(np.round(values * 10000), 0, 99999).astype(np.int64), 5)
        comma, point = (np.full((*values.shape, 1), ord(sign), np.uint8) for sign in ",.")
        return np.concatenate([comma, text[..., :1], point, text[..., 1:]], axis=-1)

    def block():
        x = pick.random((sequences, steps, columns))
        y = np.zeros((sequences, steps))
        for t in range(steps):
            y[:, t] = 0.8 * (y[:, t - 1] if t else 0) + x[:, t, 0] + 0.5 * x[:, t, 1] * (x[:, t, 2] > 0.6)
        y += 0.01 * pick.standard_normal(y.shape)
        ids = np.zeros((sequences, steps, 9), np.uint8)
        when = np.repeat(digits(np.arange(steps), 2)[None], sequences, axis=0)
        comma, end = (np.full((sequences, steps, 1), ord(sign), np.uint8) for sign in ",\n")
        return np.concatenate([ids, comma, when, cells(x).reshape(sequences, steps, -1), cells(y), end], axis=-1)

    first = 0
    with open(path, "wb") as to:
        to.write(b"id,t," + b",".join(b"x%d" % (i + 1) for i in range(columns)) + b",y\n")
        while to.tell() < size:
            if len(blocks) < 8:
                blocks.append(block())
            rows = blocks[first // sequences % 8]
            rows[:, :, :9] = digits(first + np.arange(sequences), 9)[:, None]
            to.write(rows)
            first += sequences
    return first * steps


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def makespan(jobs, here, elsewhere, latency, rate):
    """Seconds of one map: jobs in their order to whoever is free. One elsewhere takes two latencies more. All bytes pass rank 0."""
    free = [(0.0, False)] * here + [(0.0, True)] * elsewhere
    heapq.heapify(free)
    wire = end = 0.0
    for seconds, sent in jobs:
        when, away = heapq.heappop(free)
        if away and rate:
            wire += sent / rate
            seconds += sent / rate
        done = when + seconds + (2 * latency if away else 0)
        end = max(end, done)
        heapq.heappush(free, (done, away))
    return max(end, wire if elsewhere > 1 else 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default="bytes,shard,speed,large,kills,dask,model")
    parser.add_argument("--build", default="build")
    parser.add_argument("--starts", type=int, default=4, help="of the fits of bytes and dask")
    parser.add_argument("--updates", type=int, default=200, help="of the fits of bytes")
    parser.add_argument("--most-ranks", type=int, default=4)
    parser.add_argument("--speed-starts", type=int, default=16)
    parser.add_argument("--speed-sequences", type=int, default=10)
    parser.add_argument("--task", default="runoff", help="of speed and model")
    parser.add_argument("--most-updates", type=int, default=0, help="of a start, in speed and model; 0: any number")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--least-speed", type=float, default=0.9)
    parser.add_argument("--least-throughput", type=float, default=1.6)
    parser.add_argument("--gigabytes", type=float, default=1, help="of the file of large")
    parser.add_argument("--folder", default="/var/tmp", help="for that file and what ranks keep on disk")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--model-starts", type=int, default=8)
    parser.add_argument("--model-sequences", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        for part in args.parts.split(","):
            getattr(bench, part)()
    sys.exit(1 if bench.wrong else 0)


if __name__ == "__main__":
    main()
