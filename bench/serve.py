"""remede serve: one-row requests per second over kept-alive connections, and whether any is lost.

    python3 bench/serve.py [--seconds 10] [--connections 16] [--remede build/remede]

wrk (Debian's package of that name) sends rows of 1,000 interleaved sequences from one thread of its own; server and wrk share the machine's
processors. Every request must be answered with 200, and the server must have counted as many rows as wrk got answers (wrk may end before it has read the answers of
the last request of each connection). Then the same sequences are asked for row by row, beside the load, and compared with `remede predict`.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading

SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local step = 0
function request()
  step = step + 1
  return wrk.format(nil, "/predict", nil, string.format('{"sequence": "w%d", "step": 1, "x1": %.4f}', step % 1000, math.random()))
end
"""


def start(remede, folder):
    process = subprocess.Popen([remede, "serve", "model.json", "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True)
    return process, int(re.search(r"127\.0\.0\.1:(\d+)", process.stderr.readline()).group(1))


def status(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/status")
    return json.loads(connection.getresponse().read())


def load(port, folder, seconds, connections):
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", "rows.lua", f"http://127.0.0.1:{port}"], cwd=folder,
                         check=True, capture_output=True, text=True).stdout
    answered = int(re.search(r"(\d+) requests in", out).group(1))
    bad = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", out)))
    lost = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", out)))
    return {"answered": answered, "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), "bad": bad, "lost": lost,
            "latency_99": re.search(r"99%\s+(\S+)", out).group(1)}


def compare(port, folder, differences):
    """Rows of their own sequences, beside the load."""
    expected = (folder / "expected.csv").read_text().splitlines()[1:]
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for line, wanted in zip((folder / "data.csv").read_text().splitlines()[1:], expected):
        sequence, step, x1, _ = line.split(",")
        connection.request("POST", "/predict", json.dumps({"sequence": sequence, "step": int(step), "x1": float(x1)}), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        cells = wanted.split(",")
        said = [answer["prediction"]] + list(answer["probabilities"].values())
        differences.append([said[0]] + said[1:] != [cells[2]] + [float(v) for v in cells[3:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--remede", default="build/remede")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("bench/serve.py: expected wrk, got none: apt-get install wrk")
    remede = os.path.abspath(arguments.remede)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = lambda *words: subprocess.run([remede, *words, "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        run("generate", "fixed-delay", "--sequences", "500", "-o", "data.csv")
        run("train", "data.csv", "-o", "model.json")
        run("predict", "model.json", "data.csv", "-o", "expected.csv")
        (folder / "rows.lua").write_text(SCRIPT)
        process, port = start(remede, folder)
        found = load(port, folder, arguments.seconds, arguments.connections)
        rows = status(port)["rows"]
        ahead = rows - found["answered"]  # answered by the server, not read by wrk any more when its time was up
        print(f"{found['rate']:,.0f} one-row requests/s over {arguments.connections} kept-alive connections, 99% within {found['latency_99']}")
        print(f"{found['answered']:,} answers, {found['bad']} not 200, {found['lost']} lost; the server counted {rows:,} rows")
        differences = []
        beside = threading.Thread(target=compare, args=(port, folder, differences))
        beside.start()
        load(port, folder, 3, arguments.connections)
        beside.join()
        print(f"{len(differences):,} rows beside the load, {sum(differences)} of them differ from `remede predict`")
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stderr.close()
    ok = found["rate"] >= 10000 and not found["bad"] and not found["lost"] and 0 <= ahead <= arguments.connections and not any(differences) and differences
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
