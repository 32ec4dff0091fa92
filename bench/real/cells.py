"""Finished cells, one JSON object a line: a line is appended in one write, so that an interruption costs the cell that was running only.
A later line of the same cell stands for an earlier one."""
import json
import os
import pathlib


class Cells:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def read(self):
        """(set, method, seed) -> cell. A line cut short by a crash is skipped."""
        found = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    cell = json.loads(line)
                except ValueError:
                    continue
                found[cell["set"], cell["method"], cell["seed"]] = cell
        return found

    def add(self, cell):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = (json.dumps(cell) + "\n").encode()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)
