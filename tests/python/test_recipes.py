"""The recipes of docs/scale.md for Spark and Ray, where these are installed."""
import re
import sys

import pytest

import remede

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.long  # both start servers of their own


def code_after(root, word):
    """The first block of Python after a bold word in the page."""
    page = (root / "docs" / "scale.md").read_text()
    return re.search(rf"\*\*{word}\.\*\*.*?```python\n(.*?)```", page, re.S).group(1)


@pytest.fixture
def work(waves, tmp_path, monkeypatch):
    X, y = waves
    rows = [{"id": s, "t": t, "a": float(v[0]), "b": float(v[1]), "y": float(w)} for s in range(20) for t, (v, w) in enumerate(zip(X[s], y[s]))]
    frame = pd.DataFrame(rows)
    model = remede.RecurrentTreeRegressor(id="id", time="t", starts=2, updates=20, random_state=1).fit(frame, "y")
    model.save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    return frame, remede.load("model.json").predict(frame)


def check(found, frame, expected):
    together = frame.assign(expected=expected).merge(found[["id", "t", "prediction"]], on=["id", "t"])
    assert len(together) == len(frame) and (together.prediction == together.expected).all()


def test_spark(root, work):
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark")
    frame, expected = work
    try:
        spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    except Exception as error:  # noqa: BLE001: no Java, or one it does not know
        pytest.skip(f"needs Java for pyspark: {error}")
    names = {"remede": remede, "frame": spark.createDataFrame(frame)}
    *before, last = code_after(root, "Spark").rstrip().splitlines()
    exec("\n".join([*before, f"result = {last}"]), names)
    check(names["result"].toPandas(), frame, expected)
    spark.stop()


def test_ray(root, work):
    ray = pytest.importorskip("ray", reason="needs ray")
    pytest.importorskip("ray.data", reason="needs ray[data]")
    frame, expected = work
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    try:
        names = {"remede": remede, "frame": frame, "ray": ray}
        *before, last = code_after(root, "Ray").rstrip().splitlines()
        exec("\n".join([*before, f"result = {last}"]), names)
        check(names["result"].to_pandas(), frame, expected)
    finally:
        ray.shutdown()
