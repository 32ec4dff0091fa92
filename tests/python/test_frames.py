"""Frames are read as the files that would be written from them: the program and the package say the same of every one, or refuse it in
the same words (but for where)."""
import datetime
import decimal
import re
import subprocess
import warnings

import numpy as np
import pytest

import remede

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
import pyarrow.csv  # noqa: E402

ROWS = 120
RANDOM = np.random.default_rng(8)
DAY = RANDOM.integers(0, 7, ROWS)
SHOP = RANDOM.choice(["north", "east", "south", "west"], ROWS)
LEVEL = np.round(RANDOM.normal(size=ROWS), 3)
OPEN = RANDOM.random(ROWS) < 0.5
ID = np.repeat(np.arange(ROWS // 6), 6)
STEP = np.tile(np.arange(6), ROWS // 6)
Y = np.where((DAY % 3 == 1) ^ (SHOP == "south") ^ (LEVEL > 0.4), "yes", "no")


def table(**columns):
    """The columns that the model was trained on, some of them otherwise."""
    plain = {"id": ID, "step": STEP, "day": DAY, "shop": SHOP, "level": LEVEL, "open": OPEN}
    plain.update(columns)
    return {name: values for name, values in plain.items() if values is not None}


@pytest.fixture(scope="module")
def trained(program, tmp_path_factory):
    """A model of the program, whose column of numbers is one of categories."""
    folder = tmp_path_factory.mktemp("frames")
    pandas.DataFrame({**table(), "y": Y}).to_csv(folder / "train.csv", index=False)
    program("train", folder / "train.csv", "-o", folder / "model.json", "--quiet", "--starts", 4, "--categorical", "day", "--simplify", "no")
    return folder / "model.json"


def pandas_csv(frame, path):
    frame.to_csv(path, index=False)


def polars_csv(frame, path):
    frame.write_csv(path)


def arrow_csv(frame, path):
    pyarrow.csv.write_csv(frame, path)


WRITERS = {"pandas": pandas_csv, "polars": polars_csv, "pyarrow": arrow_csv}


def place_taken_out(message):
    """A file's line and a frame's row are different words for the same."""
    message = re.sub(r"^remede: ", "", message.strip())
    return re.sub(r"^[^:]*: (?:(?:line|row) \d+, )?", "", message)


def said_by_program(program, model, data, flags=()):
    try:
        out = program("predict", model, data, "--quiet", *flags).stdout.decode()
    except subprocess.CalledProcessError as error:
        return place_taken_out(error.stderr.decode()), None
    rows = [line.split(",") for line in out.splitlines()]
    first = rows[0].index("prediction") + 1
    return "", np.array([[np.float32(cell) for cell in row[first:]] for row in rows[1:]])


def said_by_python(model, frame, **settings):
    loaded = remede.load(model).set_params(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "", loaded.predict_proba(frame)
        except (ValueError, TypeError) as error:
            return place_taken_out(str(error)), None


def missing_at(values, *rows):
    return [None if k in rows else v for k, v in enumerate(np.asarray(values).tolist())]


def pandas_frames():
    frame = pandas.DataFrame
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"):
        yield f"day {kind}", frame(table(day=DAY.astype(kind)))
    for kind in ("Int8", "Int64", "UInt32", "Float32", "Float64"):
        yield f"day {kind} with gaps", frame(table(day=pandas.array(missing_at(DAY, 3, 50), dtype=kind)))
    for kind in ("float16", "float32"):
        yield f"level {kind}", frame(table(level=LEVEL.astype(kind)))
    yield "level Float64 with gaps", frame(table(level=pandas.array(missing_at(LEVEL, 0, 7), dtype="Float64")))
    yield "day object of int and text", frame(table(day=pandas.Series([str(v) if k % 2 else int(v) for k, v in enumerate(DAY)], dtype=object)))
    yield "day text", frame(table(day=DAY.astype(str)))
    yield "day text with blanks", frame(table(day=[f" {v} " for v in DAY]))
    yield "day 1.0 as text", frame(table(day=[f"{v}.0" for v in DAY]))
    yield "day category of int", frame(table(day=pandas.Categorical(DAY)))
    yield "day category of text", frame(table(day=pandas.Categorical(DAY.astype(str))))
    yield "day category with gaps", frame(table(day=pandas.Categorical(missing_at(DAY, 2, 90))))
    yield "day beyond what training has seen", frame(table(day=DAY + 100))
    yield "shop category", frame(table(shop=pandas.Categorical(SHOP)))
    yield "shop string", frame(table(shop=pandas.array(missing_at(SHOP, 1), dtype="string")))
    yield "shop object with None, NaN and NA", frame(table(shop=pandas.Series([[None, np.nan, pandas.NA, w][k % 4] for k, w in enumerate(SHOP)], dtype=object)))
    yield "shop with blanks", frame(table(shop=[f"  {w}\t" for w in SHOP]))
    yield "shop unseen words", frame(table(shop=[w if k % 3 else "up" for k, w in enumerate(SHOP)]))
    yield "shop words for missing", frame(table(shop=[["NA", "null", "?", "nan", w][k % 5] for k, w in enumerate(SHOP)]))
    yield "shop other case", frame(table(shop=[w.upper() for w in SHOP]))
    yield "shop numbers", frame(table(shop=np.arange(ROWS)))
    yield "shop bytes", frame(table(shop=pandas.Series([w.encode() for w in SHOP], dtype=object)))
    yield "shop with commas, quotes and newlines", frame(table(shop=[['a,b', 'say "x"', "two\nlines", w][k % 4] for k, w in enumerate(SHOP)]))
    yield "open object", frame(table(open=pandas.Series(missing_at(OPEN, 4), dtype=object)))
    yield "open boolean with gaps", frame(table(open=pandas.array(missing_at(OPEN, 4, 5), dtype="boolean")))
    yield "open yes and no", frame(table(open=np.where(OPEN, "yes", "no")))
    yield "open TRUE and FALSE", frame(table(open=np.where(OPEN, "TRUE", "FALSE")))
    yield "level text", frame(table(level=[repr(float(v)) for v in LEVEL]))
    yield "level text with blanks and plus", frame(table(level=[f" +{abs(v)} " for v in LEVEL]))
    yield "level words", frame(table(level=SHOP))
    yield "level infinite", frame(table(level=np.where(np.arange(ROWS) == 9, np.inf, LEVEL)))
    yield "level too large for a float", frame(table(level=np.where(np.arange(ROWS) == 9, 1e300, LEVEL)))
    yield "level NaN", frame(table(level=np.where(np.arange(ROWS) % 4 == 0, np.nan, LEVEL)))
    yield "level all missing", frame(table(level=pandas.Series([None] * ROWS, dtype=object)))
    yield "level all NaN", frame(table(level=np.full(ROWS, np.nan)))
    yield "level decimal", frame(table(level=[decimal.Decimal(str(v)) for v in LEVEL]))
    yield "level complex", frame(table(level=LEVEL + 1j))
    yield "level dates", frame(table(level=pandas.to_datetime("2024-01-01") + pandas.to_timedelta(np.arange(ROWS), "D")))
    yield "level durations", frame(table(level=pandas.to_timedelta(np.arange(ROWS), "s")))
    yield "level sparse", frame(table(level=pandas.arrays.SparseArray(LEVEL)))
    yield "level object of numbers", frame(table(level=pandas.Series(LEVEL.tolist(), dtype=object)))
    yield "level double[pyarrow]", frame(table(level=pandas.Series(missing_at(LEVEL, 3)).astype("double[pyarrow]")))
    yield "day int64[pyarrow]", frame(table(day=pandas.array(missing_at(DAY, 3), dtype="int64[pyarrow]")))
    yield "step float", frame(table(step=STEP.astype(float)))
    yield "step dates", frame(table(step=pandas.to_datetime("2024-01-30") + pandas.to_timedelta(STEP, "D")))
    yield "step times of day", frame(table(step=pandas.to_datetime("2024-01-30") + pandas.to_timedelta(STEP * 90.5, "s")))
    yield "step dates with a zone", frame(table(step=(pandas.to_datetime("2024-03-29") + pandas.to_timedelta(STEP, "D")).tz_localize("Europe/Berlin")))
    yield "step durations", frame(table(step=pandas.to_timedelta(STEP, "s")))
    yield "step periods", frame(table(step=pandas.PeriodIndex.from_ordinals(STEP + 600, freq="M")))
    yield "step dates as objects", frame(table(step=[datetime.date(2024, 1, 1 + v) for v in STEP]))
    yield "step missing", frame(table(step=np.where(np.arange(ROWS) == 3, np.nan, STEP)))
    yield "step twice", frame(table(step=STEP // 2))
    yield "step backwards", frame(table(step=-STEP))
    yield "step texts without order", frame(table(step=[f"step {11 - v}" for v in STEP]))
    yield "id text", frame(table(id=[f"s{v}" for v in ID]))
    yield "id float", frame(table(id=ID.astype(float)))
    yield "id category", frame(table(id=pandas.Categorical(ID)))
    yield "id missing", frame(table(id=pandas.array(missing_at(ID, 5), dtype="Int64")))
    yield "no id", frame(table(id=None))
    yield "no step", frame(table(step=None))
    yield "no level", frame(table(level=None))
    yield "other order of columns", frame(table()).iloc[:, ::-1]
    yield "rows shuffled", frame(table()).sample(frac=1, random_state=3)
    yield "extra columns", frame(table(y=Y, note=[{"a": 1}] * ROWS, when=pandas.Timestamp("2024-01-01"), id2=7))
    yield "blanks around names", frame(table()).rename(columns={"level": " level "})
    yield "one row", frame(table()).iloc[:1]
    yield "no rows", frame(table()).iloc[:0]
    twice = frame(table())
    twice.insert(0, "level", LEVEL, allow_duplicates=True)
    yield "a name twice", twice


def polars_frames():
    frame = polars.DataFrame
    for kind in (polars.Int8, polars.UInt16, polars.Int64, polars.Float32):
        yield f"polars day {kind}", frame(table(day=polars.Series(missing_at(DAY, 8), dtype=kind)))
    yield "polars strings and booleans", frame(table(shop=missing_at(SHOP, 2), open=missing_at(OPEN, 2)))
    yield "polars categorical", frame(table(shop=polars.Series(SHOP.tolist(), dtype=polars.Categorical)))
    yield "polars enum", frame(table(shop=polars.Series(SHOP.tolist(), dtype=polars.Enum(["north", "east", "south", "west"]))))
    yield "polars decimal", frame(table(level=polars.Series([decimal.Decimal(str(v)) for v in LEVEL])))
    yield "polars dates", frame(table(step=[datetime.date(2024, 1, 1 + int(v)) for v in STEP]))
    yield "polars times", frame(table(step=[datetime.datetime(2024, 1, 1, int(v)) for v in STEP]))
    yield "polars times with a zone", frame(table(step=polars.Series([datetime.datetime(2024, 1, 1, int(v)) for v in STEP], dtype=polars.Datetime("ms", "Europe/Berlin"))))
    yield "polars times of day", frame(table(step=[datetime.time(int(v)) for v in STEP]))
    yield "polars dates as input", frame(table(level=[datetime.date(2024, 1, 1)] * ROWS))
    yield "polars nothing", frame(table(level=polars.Series([None] * ROWS, dtype=polars.Null)))
    yield "polars two chunks", polars.concat([frame(table())[:50], frame(table())[50:]], rechunk=False)
    yield "polars long strings", frame(table(shop=[f"{w} and much more than twelve bytes" for w in SHOP]))
    yield "polars a slice", frame(table())[6:66]


def arrow_tables():
    for kind in (pyarrow.int16(), pyarrow.uint8(), pyarrow.float32()):
        yield f"arrow day {kind}", pyarrow.table(table(day=pyarrow.array(missing_at(DAY, 8), kind)))
    yield "arrow level float16", pyarrow.table(table(level=pyarrow.array(LEVEL.astype(np.float16))))
    yield "arrow strings and booleans", pyarrow.table(table(shop=missing_at(SHOP, 2), open=missing_at(OPEN, 2)))
    yield "arrow dictionary", pyarrow.table(table(shop=pyarrow.array(missing_at(SHOP, 2)).dictionary_encode()))
    yield "arrow dictionary of int", pyarrow.table(table(day=pyarrow.array(DAY).dictionary_encode()))
    yield "arrow large strings", pyarrow.table(table(shop=pyarrow.array(SHOP.tolist(), pyarrow.large_string())))
    yield "arrow decimal", pyarrow.table(table(level=pyarrow.array([decimal.Decimal(str(v)).quantize(decimal.Decimal("0.001")) for v in LEVEL])))
    yield "arrow times", pyarrow.table(table(step=pyarrow.array(STEP * 1000, pyarrow.timestamp("ms"))))
    yield "arrow times with a zone", pyarrow.table(table(step=pyarrow.array(STEP * 1000, pyarrow.timestamp("ms", "Europe/Berlin"))))
    yield "arrow dates", pyarrow.table(table(step=pyarrow.array(STEP, pyarrow.int32()).cast(pyarrow.date32())))
    yield "arrow nothing", pyarrow.table(table(level=pyarrow.nulls(ROWS)))
    yield "arrow two chunks", pyarrow.concat_tables([pyarrow.table(table()).slice(0, 33), pyarrow.table(table()).slice(33)])


FRAMES = [pytest.param(frame, id=name) for make in (pandas_frames, polars_frames, arrow_tables) for name, frame in make()]


def test_there_are_enough():
    assert len(FRAMES) >= 100


@pytest.mark.parametrize("frame", FRAMES)
def test_program_and_package_agree(program, trained, tmp_path, frame):
    library = type(frame).__module__.split(".")[0]
    WRITERS[library](frame, tmp_path / "data.csv")
    message, expected = said_by_program(program, trained, tmp_path / "data.csv")
    got_message, got = said_by_python(trained, frame)
    if message == "expected rows of data after the header, got none":  # scikit-learn has words of its own for it
        assert got is None and "0 sample(s)" in got_message
        return
    assert got_message == message
    if expected is not None:
        assert np.array_equal(got, expected)


@pytest.mark.parametrize("make", [
    lambda: np.rec.fromarrays([ID, STEP, DAY, SHOP, LEVEL, OPEN], names="id,step,day,shop,level,open"),
    lambda: [pandas.DataFrame(table())[:60], pandas.DataFrame(table())[60:]],
    lambda: pandas.DataFrame(table()).set_index(["id", "step"]),
    lambda: pandas.DataFrame(table()).set_index("id"),
])
def test_other_tables_of_the_same_content(trained, make):
    expected = said_by_python(trained, pandas.DataFrame(table()))[1]
    got = said_by_python(trained, make())
    assert got[0] == ""
    assert np.array_equal(np.concatenate(got[1]) if isinstance(got[1], list) else got[1], expected)


def test_masks_of_arrays_are_missing_values(tmp_path):
    random = np.random.default_rng(1)
    X, hidden = random.normal(size=(300, 2)), random.random((300, 2)) < 0.3
    y = np.where(hidden[:, 0], 0, np.where(X[:, 0] > 0, 1, 2))
    masked, plain = np.ma.array(X, mask=hidden), np.where(hidden, np.nan, X)
    model = remede.RecurrentTreeClassifier(starts=4).fit(masked, y)
    assert model.model_.to_json() == remede.RecurrentTreeClassifier(starts=4).fit(plain, y).model_.to_json()
    assert np.array_equal(model.predict_proba(masked), model.predict_proba(plain))


def test_too_many_words_are_refused_as_in_files(program, tmp_path):
    frame = pandas.DataFrame({"word": [f"w{k}" for k in range(1500)], "when": pandas.date_range("2024-01-01", periods=1500, freq="s"),
                              "y": np.arange(1500) % 2})
    for column in ("word", "when"):
        frame[[column, "y"]].to_csv(tmp_path / "d.csv", index=False)
        with pytest.raises(subprocess.CalledProcessError) as refused:
            program("train", tmp_path / "d.csv", "-o", tmp_path / "m.json", "--id", "row")
        with pytest.raises(ValueError) as error:
            remede.RecurrentTreeClassifier(id="row").fit(frame[[column, "y"]], "y")
        assert place_taken_out(str(error.value)) == place_taken_out(refused.value.stderr.decode())


@pytest.mark.parametrize("writer, make", [(pandas_csv, pandas.DataFrame), (polars_csv, polars.DataFrame), (arrow_csv, pyarrow.table)])
def test_a_fit_is_the_same_file(program, tmp_path, writer, make):
    """Words, blanks, booleans, numbers as text: the model of the frame is that of its file, byte for byte."""
    frame = make({**table(shop=[f" {w}" for w in SHOP], level=[repr(float(v)) for v in LEVEL]), "y": Y})
    writer(frame, tmp_path / "d.csv")
    program("train", tmp_path / "d.csv", "-o", tmp_path / "m.json", "--quiet", "--starts", 2, "--categorical", "day", "--ignore", "open", "--time-gap")
    model = remede.RecurrentTreeClassifier(starts=2, id="id", time="step", categorical="day", ignore=["open"], time_gap=True).fit(frame, "y")
    model.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    assert model.score(frame, "y") == remede.load(tmp_path / "m.json").score(frame)
