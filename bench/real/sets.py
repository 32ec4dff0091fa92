"""The data sets, each cut as its protocol says (docs/real-data.md). Every loader takes the folder that holds them all."""
import csv

import numpy as np

from real import generated
from real.data import DataSet, Part, at_last_step, cut_by_time


def table(path, before=()):
    """A CSV file as a dictionary of columns of texts; `before` names fields that the header leaves out at its beginning."""
    with open(path, newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    header = [*before, *filter(None, rows[0])]
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(header)}


def numbers(columns, names):
    """(rows, names) float32"""
    return np.stack([np.array(columns[name], float) for name in names], axis=1).astype(np.float32)


def cmapss(folder):
    """Remaining useful life, at most 125. Scored at every test engine's last cycle."""
    training = np.loadtxt(folder / "cmapss/train_FD001.txt")
    test = np.loadtxt(folder / "cmapss/test_FD001.txt")
    left_at_end = np.loadtxt(folder / "cmapss/RUL_FD001.txt")
    sensors = [c for c in range(5, 26) if np.ptp(training[:, c]) > 0]  # columns: engine, cycle, 3 settings, 21 sensors

    def engines(rows, first, last):
        part = Part([], [])
        for engine in range(first, last + 1):
            mine = rows[rows[:, 0] == engine]
            part.x.append(mine[:, sensors].astype(np.float32))
            part.y.append(np.minimum(125.0, len(mine) - mine[:, 1]))
        return part

    asked = engines(test, 1, 100)
    for y, left in zip(asked.y, left_at_end):
        y[:-1], y[-1] = np.nan, min(125.0, left)
    return DataSet("cmapss", [f"sensor{c - 4}" for c in sensors], [], engines(training, 1, 80), engines(training, 81, 100), {"cmapss": asked},
                   "turbofan FD001, the sensors that vary; cycles left, at most 125; engines 1-80 / 81-100; at the last cycle of 100 test engines")


def beijing_pm25(folder):
    """PM2.5 from the weather of the hour, without its own history. The wind's direction is a category: one column each."""
    columns = table(folder / "beijing_pm25/PRSA_data_2010.1.1-2014.12.31.csv")
    plain = ["month", "hour", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]
    winds = sorted(set(columns["cbwd"]))
    x = np.concatenate([numbers(columns, plain), np.array([[wind == w for w in winds] for wind in columns["cbwd"]], np.float32)], axis=1)
    y = np.array([np.nan if v == "NA" else float(v) for v in columns["pm2.5"]])
    year = np.array(columns["year"], int)
    training, validation, test = (Part([x[of]], [y[of]]) for of in (year <= 2012, year == 2013, year == 2014))
    return DataSet("beijing_pm25", plain + [f"cbwd_{w}" for w in winds], [], training, validation, {"beijing_pm25": test},
                   "PM2.5 from weather, hourly; 2010-12 / 2013 / 2014, each one sequence from empty memory")


def bike_sharing(folder):
    """Rented bikes from calendar and weather; counts grow with their mean, so their logarithm is learned and scored."""
    columns = table(folder / "bike_sharing/hour.csv")
    names = ["season", "yr", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "atemp", "hum", "windspeed"]
    y = np.log1p(np.array(columns["cnt"], float))
    training, validation, test = cut_by_time(numbers(columns, names), y, [.64, .16, .2])
    return DataSet("bike_sharing", names, [], training, validation, {"bike_sharing": test},
                   "log(1 + cnt) from calendar and weather, hourly; first 64% / 16% / last 20% of the hours")


def cascaded_tanks(folder):
    """Simulation: the lower tank's level from the pump's voltage alone, over all test steps."""
    columns = table(folder / "cascaded_tanks/dataBenchmark.csv")
    of = lambda name: np.array(columns[name], float)
    u, y = of("uEst")[:, None].astype(np.float32), of("yEst")
    test = Part([of("uVal")[:, None].astype(np.float32)], [of("yVal")])
    # The tanks are not at rest in the middle of the record: validation runs from its beginning, and its end is scored.
    late = np.where(np.arange(len(y)) < 768, np.nan, y)
    return DataSet("cascaded_tanks", ["u"], [], Part([u[:768]], [y[:768]]), Part([u], [late]), {"cascaded_tanks": test},
                   "level of the second tank from the input u alone; 768 / 256 / 1,024 steps, all of them scored")


def occupancy_detection(folder):
    """Is somebody in the room, without the light sensor. One stream per file."""
    names = ["Temperature", "Humidity", "CO2", "HumidityRatio"]

    def stream(file):
        columns = table(folder / "occupancy_detection" / file, before=["row"])  # the header names seven of the eight fields
        return numbers(columns, names), np.array(columns["Occupancy"], int)

    training, validation = cut_by_time(*stream("datatraining.txt"), [.8, .2])
    tests = {}
    for name, file in (("occupancy, test 1", "datatest.txt"), ("occupancy, test 2", "datatest2.txt")):
        x, y = stream(file)
        tests[name] = Part([x], [y])
    return DataSet("occupancy_detection", names, ["0", "1"], training, validation, tests,
                   "temperature, humidity, CO2, humidity ratio, by the minute; the publisher's files, last fifth of the training file for validation")


def robot_wall_following(folder):
    """The command to the robot from 24 ultrasound sensors: no memory is needed."""
    columns = table(folder / "robot_wall_following/sensor_readings_24.data")
    names = [f"S{i}" for i in range(1, 25)]
    classes = sorted(set(columns["OUTPUT"]))
    y = np.array([classes.index(v) for v in columns["OUTPUT"]])
    training, validation, test = cut_by_time(numbers(columns, names), y, [.64, .16, .2])
    return DataSet("robot_wall_following", names, classes, training, validation, {"robot_wall_following": test},
                   "command from 24 distances, every step; first 64% / 16% / last 20% of one drive")


def arem(folder):
    """Activity at every step; files that are copies of others are left out."""
    columns = ["avg_rss12", "var_rss12", "avg_rss13", "var_rss13", "avg_rss23", "var_rss23"]
    classes = sorted(path.name for path in (folder / "arem").iterdir() if path.is_dir())
    copies = {("lying", n) for n in range(11, 16)} | {("cycling", 15)}
    parts = {"training": Part([], []), "validation": Part([], []), "test": Part([], [])}
    for number, activity in enumerate(classes):
        last_test = 2 if activity.startswith("bending") else 3
        for file in range(1, len(list((folder / "arem" / activity).glob("dataset*.csv"))) + 1):
            if (activity, file) in copies:
                continue
            with open(folder / f"arem/{activity}/dataset{file}.csv") as lines:
                rows = [line.replace(" ", "").rstrip(",\n").split(",") for line in lines if line.strip() and not line.startswith("#")]
            x = np.array(rows, float)[:, 1:7].astype(np.float32)
            part = parts["test" if file <= last_test else "validation" if file == 4 else "training"]
            part.x.append(x)
            part.y.append(np.full(len(x), number))
    return DataSet("arem", columns, classes, parts["training"], parts["validation"], {"arem": parts["test"]},
                   "activity at every step, 7 classes; files 1-2 (bending) or 1-3 are the test, file 4 the validation, copies dropped")


def read_ts(path):
    """Sequences (steps, features) and labels of a .ts file without missing values."""
    x, labels, in_data = [], [], False
    with open(path) as lines:
        for line in lines:
            line = line.strip()
            if in_data and line:
                *series, label = line.split(":")
                x.append(np.array([s.split(",") for s in series], float).T.astype(np.float32))
                labels.append(label)
            elif line.lower() == "@data":
                in_data = True
    return x, labels


def uea(name, about):
    def load(folder):
        (train_x, train_labels), (test_x, test_labels) = (read_ts(folder / f"uea_{name}/{name}_{part}.ts") for part in ("TRAIN", "TEST"))
        classes = sorted(set(train_labels))
        targets = lambda labels, x: at_last_step([classes.index(v) for v in labels], [len(s) for s in x])
        return DataSet(f"uea_{name}", [f"x{i + 1}" for i in range(train_x[0].shape[1])], classes, Part(train_x, targets(train_labels, train_x)),
                       None, {f"uea_{name}": Part(test_x, targets(test_labels, test_x))}, about)
    return load


LOADERS = {
    "cmapss": cmapss,
    "beijing_pm25": beijing_pm25,
    "bike_sharing": bike_sharing,
    "cascaded_tanks": cascaded_tanks,
    "occupancy_detection": occupancy_detection,
    "robot_wall_following": robot_wall_following,
    "arem": arem,
    "uea_JapaneseVowels": uea("JapaneseVowels", "speaker of an utterance, 9 classes, 7 to 29 steps, label at the last; archive split, a fifth for validation"),
    "uea_PenDigits": uea("PenDigits", "digit from 8 pen positions, label at the last; archive split, a fifth for validation"),
    **generated.LOADERS,
}
