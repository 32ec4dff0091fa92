"""The tables of docs/real-data.md, from the finished cells. Needs the standard library only."""
import math
import statistics

from real.methods import METHODS, is_ours

BEGIN, END = "<!-- table: written by bench/real.py --table -->", "<!-- end of table -->"
CHEATS = ["last-value"]  # sees the previous target: shown, not ranked


class Row:
    """One score of one method over its seeds."""

    def __init__(self, cells, score):
        values = [cell["scores"][score] for cell in cells]
        mean = lambda key: statistics.mean(c[key] for c in cells) if all(c.get(key) is not None for c in cells) else None
        self.seeds, self.mean = len(values), statistics.mean(values)
        self.error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        self.numbers, self.nodes, self.step_ns = mean("numbers"), mean("nodes"), mean("step_ns")
        self.cpu, self.seconds = mean("cpu"), mean("seconds")
        self.metric = cells[0]["metric"]

    def loss(self):
        return -self.mean if self.metric == "accuracy" else self.mean


def level(a, b):
    """No further apart than one standard error of their difference."""
    return a.loss() - b.loss() <= math.hypot(a.error, b.error)


def rows_by_score(cells):
    """score -> method -> Row, in the order of the cells and of METHODS."""
    grouped = {}
    for (_, method, _), cell in cells.items():
        for score in cell["scores"]:
            grouped.setdefault(score, {}).setdefault(method, []).append(cell)
    return {score: {m: Row(methods[m], score) for m in METHODS if m in methods} for score, methods in grouped.items()}


def show(value, digits=3):
    """With so many significant digits, without an exponent."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def score_text(row):
    if row.metric == "accuracy":
        return f"{row.mean:.3f} ± {row.error:.3f}"
    places = 2 if row.mean >= 1 else 3
    return f"{row.mean:.{places}f} ± {row.error:.{places}f}"


def best_of(rows):
    ranked = {m: row for m, row in rows.items() if m not in CHEATS}
    return min(ranked, key=lambda m: ranked[m].loss())


def verdict(method, rows):
    if method in CHEATS:
        return "sees the last target"
    best = best_of(rows)
    return "best" if method == best else "level" if level(rows[method], rows[best]) else ""


def overview(scores):
    """A line per score, a column per method."""
    methods = [m for m in METHODS if any(m in rows for rows in scores.values())]
    lines = ["| score | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for score, rows in scores.items():
        texts = []
        for method in methods:
            text = score_text(rows[method]) if method in rows else ""
            mark = verdict(method, rows) if method in rows else ""
            texts.append(f"**{text}**" if mark == "best" else f"*{text}*" if mark == "level" else text)
        lines.append(f"| {score}, {next(iter(rows.values())).metric} | " + " | ".join(texts) + " |")
    return lines


def details(scores):
    lines = ["| score | method | mean ± standard error | | seeds | nodes | stored numbers | training, CPU s | the same, s | ns per step |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for score, rows in scores.items():
        for method, row in rows.items():
            lines.append(f"| {score} | {method} | {score_text(row)} | {verdict(method, rows)} | {row.seeds} | "
                         f"{show(row.nodes)} | {show(row.numbers)} | {show(row.cpu)} | {show(row.seconds)} | {show(row.step_ns)} |")
    return lines


def beside_best_peer(scores):
    """Where each form of remede is as good as the best peer, and how small beside it."""
    lines = []
    for method in METHODS:
        if not is_ours(method) or not any(method in rows for rows in scores.values()):
            continue
        good, small, of = [], [], 0
        for score, rows in scores.items():
            peers = {m: row for m, row in rows.items() if not is_ours(m)}
            if method not in rows or not peers:
                continue
            of += 1
            best = peers[best_of(peers)]
            if level(rows[method], best):
                good.append(score)
                if 10 * rows[method].numbers <= best.numbers:
                    small.append(score)
        names = lambda found: f" ({', '.join(found)})" if found else ""
        lines.append(f"- `{method}`: as good as the best peer, or better, on {len(good)} of {of}{names(good)}; on {len(small)} of these with at "
                     f"most a tenth of its numbers{names(small)}.")
    return lines


def text(cells):
    scores = rows_by_score(cells)
    return "\n".join([*overview(scores), "", *beside_best_peer(scores), "", *details(scores)])


def put_into(page, table):
    """The page with its table replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected the lines '{BEGIN}' and '{END}'")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"
