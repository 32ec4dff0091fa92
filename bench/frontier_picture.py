"""The picture of bench/frontier.py: a panel for each score, numbers to the right, better scores upwards. Plain SVG, plain colours."""
import statistics

COLOURS = {"remede": "#1f6f5c", "laws": "#1f6f5c", "tree-lags": "#b8860b", "tree-averages": "#d2691e", "sparse-linear": "#4a6fa5", "few-trees": "#8b5a9e"}
WORDS = {"remede": "remede", "laws": "remede, small models", "tree-lags": "CART on lags", "tree-averages": "CART on averages", "sparse-linear": "sparse linear on averages",
         "few-trees": "XGBoost, few trees"}
WIDE, HIGH, LEFT, TOP, GAP = 190, 130, 44, 40, 34


def means(cells, name, test, method, sizes):
    """[(position of the size, mean score)]"""
    runs = [c for c in cells if c["set"] == name and c["method"] == method]
    points = []
    for place, size in enumerate(sizes):
        got = [c["at"][str(size)][2][test] for c in runs if str(size) in c["at"]]
        if runs and len(got) == len(runs):
            points.append((place, statistics.mean(got)))
    return points


def panel(x, y, title, lines, rises, sizes):
    values = [v for _, points in lines for _, v in points]
    low, high = min(values), max(values)
    spread = (high - low) or 1

    def at(place, value):
        share = (value - low) / spread
        return x + WIDE * place / (len(sizes) - 1), y + HIGH * (1 - share if rises else share)

    out = [f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" fill="#f6f7f9"/>',
           f'<text x="{x}" y="{y - 8}" font-size="12" font-weight="bold" fill="#222">{title}</text>']
    for share, value in ((0, high if rises else low), (1, low if rises else high)):
        out.append(f'<text x="{x - 5}" y="{y + 4 + HIGH * share:.0f}" font-size="10" text-anchor="end" fill="#555">{value:.3g}</text>')
    for place, size in enumerate(sizes):
        out.append(f'<text x="{x + WIDE * place / (len(sizes) - 1):.0f}" y="{y + HIGH + 13}" font-size="10" text-anchor="middle" fill="#555">{size}</text>')
    for method, points in lines:
        ink = COLOURS[method]
        path = " ".join("{:.1f},{:.1f}".format(*at(*p)) for p in points)
        heavy = 2.6 if method in ("remede", "laws") else 1.4
        out.append(f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="{heavy}"/>')
        out += ['<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"/>'.format(*at(*p), heavy + .6, ink) for p in points]
    return out


def draw(cells, methods, sizes, columns=5):
    """cells: of cells.jsonl. Errors and accuracies alike: up is better."""
    cells, sizes = list(cells), [s for s in sizes if s != "any"]
    methods = [m for m in methods if any(c["method"] == m for c in cells)]
    tests = list(dict.fromkeys((c["set"], test) for c in cells for at in c["at"].values() for test in at[2]))
    out = []
    for number, (name, test) in enumerate(tests):
        lines = [(m, means(cells, name, test, m, sizes)) for m in methods]
        lines = [(m, points) for m, points in lines if points]
        rises = next(c["metric"] for c in cells if c["set"] == name) == "accuracy"
        x, y = LEFT + number % columns * (WIDE + LEFT + 12), TOP + number // columns * (HIGH + TOP + GAP)
        out += panel(x, y, f"{test}, {'accuracy' if rises else 'error'}", lines, rises, sizes)
    rows = (len(tests) + columns - 1) // columns
    width, height = columns * (WIDE + LEFT + 12) + 20, rows * (HIGH + TOP + GAP) + 30
    for place, method in enumerate(methods):
        x = LEFT + place * 200
        out += [f'<rect x="{x}" y="{height - 22}" width="14" height="4" fill="{COLOURS[method]}"/>',
                f'<text x="{x + 20}" y="{height - 16}" font-size="12" fill="#222">{WORDS[method]}</text>']
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n")
