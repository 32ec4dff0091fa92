"""remede serve, by Python's own HTTP client."""
import csv
import gzip
import http.client
import io
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
JSON = {"Content-Type": "application/json"}


class Server:
    """A running server and a connection to it."""

    def __init__(self, *words):
        self.process = subprocess.Popen([PROGRAM, "serve", "model.json", "--port", "0", *words], stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", line).group(1))
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def ask(self, method, path, body=None, headers=JSON):
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()

    def predict(self, rows, headers=JSON):
        return self.ask("POST", "/predict", rows if isinstance(rows, (str, bytes)) else json.dumps(rows), headers)

    def end(self, how=signal.SIGTERM):
        self.connection.close()
        self.process.send_signal(how)
        code = self.process.wait(20)
        self.process.stderr.close()
        return code


def prepare():
    run = lambda *words: subprocess.run([PROGRAM, *words], check=True, capture_output=True)
    run("generate", "fixed-delay", "--sequences", "60", "-o", "data.csv", "-q")
    run("train", "data.csv", "-o", "model.json", "--recipe", "paper", "--updates", "60", "-q")
    run("predict", "model.json", "data.csv", "-o", "expected.csv", "-q")
    rows = [{"sequence": int(r["sequence"]), "step": int(r["step"]), "x1": float(r["x1"])} for r in csv.DictReader(open("data.csv"))]
    return rows, list(csv.DictReader(open("expected.csv")))


def same(answer, expected):
    return answer["prediction"] == expected["prediction"] and all(answer["probabilities"][k] == float(expected[f"p_{k}"]) for k in answer["probabilities"])


def test_answers(rows, expected):
    """One by one, as an array, and as lines; interrupted, with the state taken up again."""
    server = Server("--state", "live.state")
    half = len(rows) // 2
    for row, wanted in zip(rows[:half], expected):
        status, text = server.predict(row)
        assert status == 200 and same(json.loads(text), wanted), (row, text, wanted)
    assert server.end() == 143
    server = Server("--state", "live.state")
    status, text = server.predict(rows[half:half + 20])
    assert status == 200 and all(map(same, json.loads(text), expected[half:]))
    status, text = server.predict("\n".join(map(json.dumps, rows[half + 20:])), {"Content-Type": "application/x-ndjson"})
    assert status == 200 and all(map(same, map(json.loads, text.splitlines()), expected[half + 20:]))
    assert json.loads(server.ask("GET", "/status")[1])["rows"] == len(rows)
    assert server.end(signal.SIGINT) == 130


def test_refusals(rows):
    server = Server()
    large = b" " * (17 << 20)
    for status, method, path, body, headers in [
            (400, "POST", "/predict", "{", JSON), (400, "POST", "/predict", "", JSON), (400, "POST", "/predict", '{"sequence": 1}', JSON),
            (400, "POST", "/predict", b"\xff\x00", JSON), (415, "POST", "/predict", "{}", {"Content-Type": "text/plain"}),
            (415, "POST", "/predict", gzip.compress(b"{}"), {**JSON, "Content-Encoding": "gzip"}), (405, "GET", "/predict", None, {}),
            (404, "GET", "/nothing", None, {}), (404, "DELETE", "/sequence?id=never", None, {}), (400, "DELETE", "/sequence", None, {}),
            (400, "GET", "/recent?after=x", None, {}), (403, "GET", "/status", None, {"Host": "elsewhere.example"})]:
        got, text = server.ask(method, path, body, headers)
        assert got == status and json.loads(text)["error"], (status, got, text)
    assert server.predict(large)[0] == 413
    server.connection.close()
    server.connection.request("POST", "/predict", io.BytesIO(large), JSON, encode_chunked=True)
    assert server.connection.getresponse().status == 413
    server.connection.close()
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(b"GET /" + b"x" * 10000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 414")
    status, text = server.predict(rows[0])
    assert status == 200 and json.loads(text)["prediction"]
    page = server.ask("GET", "/")[1]
    assert "live" in page and "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", ""), "the page loads nothing from elsewhere"
    assert json.loads(server.ask("GET", "/openapi.json")[1])["openapi"].startswith("3.")
    assert json.loads(server.ask("GET", "/recent")[1])["last"] == 1
    assert server.end() == 143


def test_a_port_in_use():
    server = Server()
    run = subprocess.run([PROGRAM, "serve", "model.json", "--port", str(server.port)], capture_output=True, text=True)
    assert run.returncode == 1 and "expected a free port" in run.stderr, run.stderr
    server.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        import os

        os.chdir(folder)
        rows, expected = prepare()
        run = subprocess.run([PROGRAM, "serve", "none.json", "--port", "0"], capture_output=True, text=True)
        assert run.returncode == 1 and ("none.json" in run.stderr or "remede-serve" in run.stderr), run.stderr
        if "remede-serve" in run.stderr:
            print("skipped: cpp-httplib is not installed")
            return
        test_answers(rows, expected)
        test_refusals(rows)
        test_a_port_in_use()


main()
