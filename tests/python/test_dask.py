"""Training and prediction on a Dask cluster: the models are those of a single process."""
import os
import signal
import time
import warnings

import numpy as np
import pytest

import remede

distributed = pytest.importorskip("distributed", reason="needs remede[dask]")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
db = pytest.importorskip("dask.bag")
import remede.dask  # noqa: E402
from remede._many import usual_estimator  # noqa: E402

pytestmark = pytest.mark.xdist_group("dask")  # one cluster


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster, \
            distributed.Client(cluster) as client:
        yield client


def saved(model, tmp_path):
    model.save(tmp_path / "model.json")
    return (tmp_path / "model.json").read_bytes()


def small(kind=remede.RecurrentTreeClassifier, **more):
    return kind(starts=4, updates=60, random_state=3, n_jobs=1, **more)


def frame_of(X, y):
    rows = [{"id": s, "t": t, "x": float(v[0]), "y": int(label)} for s, (x, labels) in enumerate(zip(X, y)) for t, (v, label) in enumerate(zip(x, labels))]
    return pd.DataFrame(rows)


def test_the_model_has_the_bytes_of_a_single_process(client, task, waves, tmp_path):
    for kind, (X, y) in ((remede.RecurrentTreeClassifier, (task[0][:200], task[1][:200])), (remede.RecurrentTreeRegressor, waves)):
        alone = saved(small(kind).fit(X, y), tmp_path)
        assert saved(small(kind).fit(X, y, client=client), tmp_path) == alone
        assert saved(remede.dask.fit(small(kind), X, y, client=client, validation=(X[:20], y[:20])), tmp_path) == \
            saved(small(kind).fit(X, y, validation=(X[:20], y[:20])), tmp_path)


def test_collections(client, task, tmp_path):
    X, y = task[0][:200], [np.asarray(labels) for labels in task[1][:200]]
    bags = db.from_sequence(X, npartitions=3), db.from_sequence(y, npartitions=3)
    model = remede.dask.fit(small(), *bags, client=client)
    assert saved(model, tmp_path) == saved(small().fit(X, y), tmp_path)
    predicted = remede.dask.predict(model, bags[0]).compute()
    assert len(predicted) == 200 and all((a == b).all() for a, b in zip(predicted, model.predict(X)))
    assert remede.dask.score(model, *bags, client=client) == pytest.approx(model.score(X, y), abs=1e-12)

    frame = frame_of(X, y)
    parts = dd.from_pandas(frame.set_index("id"), npartitions=3).reset_index()
    estimator = small(id="id", time="t")
    model = remede.dask.fit(estimator, parts, "y", client=client)
    assert saved(model, tmp_path) == saved(small(id="id", time="t").fit(frame, "y"), tmp_path)
    assert (remede.dask.predict(model, parts).compute().to_numpy() == model.predict(frame)).all()
    assert np.array_equal(remede.dask.predict_proba(model, parts).compute().to_numpy(), model.predict_proba(frame))
    assert remede.dask.score(model, parts, client=client) == pytest.approx(model.score(frame), abs=1e-12)
    with pytest.raises(TypeError, match="expected a Dask collection, got DataFrame"):
        remede.dask.predict(model, frame)


def test_scores_of_partitions_add_up(client, waves):
    X, y = waves
    model = small(remede.RecurrentTreeRegressor).fit(X, y)
    bags = db.from_sequence(X, npartitions=4), db.from_sequence(y, npartitions=4)
    assert remede.dask.score(model, *bags, client=client) == pytest.approx(model.score(X, y), abs=1e-9)


def test_a_lost_worker_changes_nothing(task, tmp_path):
    X, y = task[0][:300], task[1][:300]
    estimator = dict(starts=12, memory=3, depth=4, form="paper", random_state=3, n_jobs=1)
    alone = saved(remede.RecurrentTreeClassifier(**estimator).fit(X, y), tmp_path)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster, \
            distributed.Client(cluster) as client:
        killed = []

        def kill_one(_):
            if not killed:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        model = remede.RecurrentTreeClassifier(**estimator).fit(X, y, client=client, callbacks=kill_one)
    assert killed and saved(model, tmp_path) == alone


def test_a_stopped_fit_keeps_what_it_has(client, task):
    began = time.monotonic()
    model = remede.RecurrentTreeClassifier(random_state=3).fit(*task, client=client, callbacks=lambda progress: True)
    assert model.stopped_ and time.monotonic() - began < 60


def test_fit_many(client):
    random = np.random.default_rng(2)
    frames = [pd.DataFrame({"customer": f"c{k}", "day": range(60), "x": random.normal(size=60)}) for k in range(3)]
    for k, frame in enumerate(frames):
        frame["y"] = frame["x"].rolling(3, min_periods=1).mean() * (k + 1)
    frame = pd.concat(frames).sample(frac=1, random_state=1)
    estimator = small(remede.RecurrentTreeRegressor, id="none", time="day")
    alone = {k: small(remede.RecurrentTreeRegressor, id="none", time="day").fit(f.drop(columns="customer"), "y").to_text() for k, f in frame.groupby("customer")}
    for how in ({}, {"n_jobs": 2}, {"client": client}):
        models = remede.fit_many(frame, by="customer", estimator=estimator, **how)
        assert list(models) == [f"c{k}" for k in range(3)]
        assert {k: m.to_text() for k, m in models.items()} == alone, how
    assert isinstance(usual_estimator(frame, "y"), remede.RecurrentTreeRegressor) and isinstance(usual_estimator(frame, ["day"]), remede.RecurrentTreeClassifier)
    bad = pd.concat([frame, pd.DataFrame({"customer": ["d"], "day": [0], "x": [1.0], "y": [np.nan]})])
    with pytest.raises(ValueError, match="customer='d': "):
        remede.fit_many(bad, by="customer", estimator=estimator)
    kept = remede.fit_many(bad, by="customer", estimator=estimator, on_error="keep", client=client)
    assert isinstance(kept["d"], ValueError) and kept["c0"].to_text() == alone["c0"]
    with pytest.raises(ValueError, match="by: expected the name of a column, got 'shop'"):
        remede.fit_many(frame, by="shop")


def test_polars_groups():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"g": [2, 1] * 30, "t": range(60), "x": np.sin(np.arange(60.0)), "y": np.cos(np.arange(60.0))})
    estimator = small(remede.RecurrentTreeRegressor, id="none", time="t")
    models = remede.fit_many(frame, by="g", estimator=estimator)
    other = remede.fit_many(frame.to_pandas(), by="g", estimator=estimator)
    assert list(models) == [1, 2] and [m.to_text() for m in models.values()] == [m.to_text() for m in other.values()]


def test_tune_on_a_cluster(client, task):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = task[0][:100], task[1][:100]
    tuned = [remede.tune(small(), X, y, what=["rate_write"], n_trials=2, refit=False, **how) for how in ({}, {"client": client})]
    assert tuned[0].best_params == tuned[1].best_params and tuned[0].best_score == tuned[1].best_score


def test_joblib_backends(client, waves):
    """scikit-learn's searches hand fits to joblib; an estimator travels."""
    joblib = pytest.importorskip("joblib")
    model_selection = pytest.importorskip("sklearn.model_selection")
    X = np.stack([x[:, 0] for x in waves[0]])[:40]
    y = X[:, 0] + X[:, 1]
    found = {}
    for backend in ("threading", "loky", "dask"):
        search = model_selection.GridSearchCV(small(remede.RecurrentTreeRegressor), {"depth": [1, 2]}, cv=2, n_jobs=2)
        with warnings.catch_warnings(), joblib.parallel_config(backend):
            warnings.simplefilter("ignore")
            search.fit(X, y)
        found[backend] = search.cv_results_["mean_test_score"].tolist()
    assert found["threading"] == found["loky"] == found["dask"]
