"""Data sets made from formulas of the literature, the same on every machine: four systems to be simulated from one short recording, an event log,
and scikit-learn's own tables. They take the same place as the public sets: `bench/real.py --sets generated`.

The systems are recorded once for training (the last quarter validates; every method runs from the recording's beginning to get there) and once,
with another input, for the test. Simulation: the output is to be computed from the input alone.
"""
import numpy as np

from real.data import DataSet, Part

STEPS = 1024  # of a recording
WARM_UP = 200  # steps before a recording begins, so that it does not start from rest


def smooth_noise(random, steps, width):
    """Noise whose neighbouring steps are alike: the moving mean over `width` steps, with standard deviation 1."""
    noise = np.convolve(random.normal(size=steps + width), np.ones(width) / width, "same")[:steps]
    return (noise - noise.mean()) / noise.std()


def levels(random, steps, shortest, longest):
    """Levels between 0 and 1, each held for a while."""
    values = []
    while len(values) < steps:
        values += [random.uniform()] * int(random.integers(shortest, longest))
    return np.array(values[:steps])


def integrate(derivative, state, inputs, seconds, parts=4):
    """The states after every step, by the classical Runge-Kutta method; the input is held during a step."""
    states, h = [], seconds / parts
    for u in inputs:
        for _ in range(parts):
            a = derivative(state, u)
            b = derivative(state + h / 2 * a, u)
            c = derivative(state + h / 2 * b, u)
            d = derivative(state + h * c, u)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        states.append(state)
    return np.array(states)


def wiener_hammerstein(random, steps):
    """A filter, a diode that passes what is positive and little of what is negative, and a second filter."""
    u = smooth_noise(random, steps, 3)

    def low_pass(x, keep):
        for _ in range(2):  # second order
            y, last = np.empty_like(x), 0.0
            for t, value in enumerate(x):
                last = keep * last + (1 - keep) * value
                y[t] = last
            x = y
        return x

    inner = 2 * low_pass(u, .6)
    return u, low_pass(np.where(inner > 0, np.tanh(inner), .2 * inner), .75)


def bouc_wen(random, steps):
    """A mass on a spring with hysteresis, with the constants of the benchmark of that name, sampled at 750 Hz."""
    mass, damping, stiffness, alpha, beta, gamma, delta = 2., 10., 5e4, 5e4, 1e3, .8, -1.1
    u = 60 * smooth_noise(random, steps, 8)

    def derivative(s, force):
        y, v, z = s
        return np.array([v, (force - damping * v - stiffness * y - z) / mass, alpha * v - beta * (gamma * abs(v) * z + delta * v * abs(z))])

    return u, 1e3 * integrate(derivative, np.zeros(3), u, 1 / 750, 8)[:, 0]  # mm


def two_tanks(random, steps):
    """A pump fills the upper tank, which drains into the lower one; both are 10 high, and the upper one's overflow partly reaches the lower."""
    u = 3.6 * levels(random, steps, 8, 60)
    x1, x2, y = 3.0, 3.0, []
    for pump in u:
        for _ in range(4):
            out = .5 * np.sqrt(x1)
            over = max(0.0, x1 - 10) / .25
            x1 = min(10.0, max(0.0, x1 + .25 * (.5 * pump - out)))
            x2 = min(10.0, max(0.0, x2 + .25 * (out + .3 * over - .45 * np.sqrt(x2))))
        y.append(x2)
    return u, np.array(y)


def hardening_spring(random, steps):
    """A damped mass on a spring whose force grows with the displacement and its cube (Duffing's equation)."""
    u = 1.5 * smooth_noise(random, steps, 6)
    derivative = lambda s, force: np.array([s[1], force - .3 * s[1] - s[0] - 1.5 * s[0] ** 3])
    return u, integrate(derivative, np.zeros(2), u, .4)[:, 0]


SYSTEMS = [wiener_hammerstein, bouc_wen, two_tanks, hardening_spring]


def system(make):
    """One recording for training and validation, one for the test, with measurement noise of 1% of the output's standard deviation."""
    random = np.random.default_rng(sum(map(ord, make.__name__)))

    def record():
        u, y = (a[WARM_UP:] for a in make(random, WARM_UP + STEPS))
        return u.astype(np.float32)[:, None], y + .01 * y.std() * random.normal(size=len(y))

    (u, y), (u_test, y_test) = record(), record()
    held = np.arange(STEPS) >= STEPS * 3 // 4
    training = Part([u[~held]], [y[~held]])
    validation = Part([u], [np.where(held, y, np.nan)])
    return DataSet(make.__name__, ["u"], [], training, validation, {make.__name__: Part([u_test], [y_test])}, make.__doc__.split("\n")[0])


def loan_log():
    """The next activity of a loan application: which way it takes depends on a word some steps back; one in ten steps is a clarification."""
    random = np.random.default_rng(11)
    names = ["submit_online", "submit_branch", "check", "clarify", "approve_fast", "review", "approve", "decline", "pay", "archive"]

    def case():
        online = random.uniform() < .5
        way = ["submit_online" if online else "submit_branch", "check"]
        way += ["approve_fast"] if online and random.uniform() < .7 else ["review", "approve" if random.uniform() < .6 else "decline"]
        way += ["archive"] if way[-1] == "decline" else ["pay", "archive"]
        steps = []
        for name in way:
            steps.append(names.index(name))
            while random.uniform() < .1 and name != "archive":
                steps.append(names.index("clarify"))
        return steps

    def part(count):
        cases = [case() for _ in range(count)]
        return Part([np.eye(len(names), dtype=np.float32)[c[:-1]] for c in cases], [np.array(c[1:]) for c in cases])

    return DataSet("loan_log", names, names, part(600), part(200), {"loan_log": part(1000)}, loan_log.__doc__.split("\n")[0])


TABLES = ["iris", "wine", "breast_cancer", "digits", "diabetes"]


def table(name):
    """A table of scikit-learn, every row a sequence of one step: 60% train, 20% validate, 20% test."""
    import sklearn.datasets
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    classes = [str(c) for c in bunch.target_names] if hasattr(bunch, "target_names") else []
    order = np.random.default_rng(7).permutation(len(bunch.target))
    x, y = bunch.data[order].astype(np.float32), bunch.target[order]
    y = y.astype(int) if classes else y.astype(float)
    cuts = [0, round(.6 * len(y)), round(.8 * len(y)), len(y)]
    training, validation, test = (Part(list(x[a:b, None]), list(y[a:b, None])) for a, b in zip(cuts, cuts[1:]))
    columns = [str(c).replace(" ", "_") for c in getattr(bunch, "feature_names", range(x.shape[1]))]
    return DataSet(name, columns, classes, training, validation, {name: test}, f"scikit-learn's table {name}")


LOADERS = {**{make.__name__: lambda folder, make=make: system(make) for make in SYSTEMS}, "loan_log": lambda folder: loan_log(),
           **{name: lambda folder, name=name: table(name) for name in TABLES}}
