"""Which columns, rows and targets of frames mean what: nothing is read in another way than it looks."""
import numpy as np
import pytest

import remede

pandas = pytest.importorskip("pandas")


def long_frame():
    random = np.random.default_rng(3)
    frame = pandas.DataFrame({"machine": np.repeat(np.arange(30), 6), "minute": np.tile(np.arange(6), 30), "a": random.normal(size=180).round(3)})
    frame["state"] = (frame.a > 0).astype(int)
    return frame


def quick(kind=remede.RecurrentTreeClassifier, **options):
    return kind(starts=2, updates=200, **options)


def test_an_id_is_recognised_beside_a_given_time(tmp_path):
    frame = long_frame().rename(columns={"machine": "case_id"})
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.warns(UserWarning, match="'case_id' is taken for the id"):
        model = quick(time="minute").fit(frame, "state")
    assert model.model_.id == "case_id" and model.model_.to_json() == quick(time="minute").fit(tmp_path / "d.csv", "state").model_.to_json()


def test_series_per_sequence_are_matched_by_the_ids():
    frame = long_frame()
    frame["machine"] = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(frame.machine, "D")
    shuffled = frame.sample(frac=1, random_state=5)
    last = frame.groupby("machine").state.last()
    weight = pandas.Series(np.arange(1.0, 31.0), index=last.index)
    inputs = shuffled[["machine", "minute", "a"]]
    order = shuffled.machine.unique()
    model = quick(id="machine", time="minute")
    named = model.fit(inputs, last, weight).model_.to_json()
    placed = model.fit(inputs, last.loc[order].to_numpy(), weight.loc[order].to_numpy()).model_.to_json()
    assert named.replace('"state"', '"y"') == placed
    with pytest.warns(UserWarning, match="does not hold the ids of the sequences"):
        model.fit(inputs, pandas.Series(last.to_numpy(), index=[f"?{k}" for k in range(30)]))


def test_another_y_for_held_out_data_is_refused():
    frame = long_frame()
    model = quick(id="machine", time="minute")
    model.fit(frame, "state", validation=(frame, "state"))
    with pytest.raises(ValueError, match="expected X alone, or with y='state' as in fit, got another y"):
        model.fit(frame, "state", test=(frame, 1 - frame.state))


def test_classes_are_numbers_only_if_they_are_written_plainly(tmp_path):
    for words, kind in ((["1_0", "2_0"], "U"), (["01", "02"], "U"), (["1", "2"], "i"), (["0.5", "1"], "f")):
        frame = long_frame()
        frame["state"] = np.array(words)[frame.state]
        model = quick(id="machine", time="minute").fit(frame, "state")
        model.save(tmp_path / "m.json")
        loaded = remede.load(tmp_path / "m.json")
        assert model.classes_.dtype.kind == loaded.classes_.dtype.kind == kind
        assert [str(c) for c in loaded.classes_] == ([str(float(w)) for w in words] if kind == "f" else words)


def test_a_horizon_is_scored_by_the_column():
    model = quick(id="machine", time="minute", horizon=1).fit(long_frame(), "state")
    with pytest.raises(ValueError, match="since the model has horizon=1"):
        model.score(long_frame(), long_frame().state)


def test_levels_of_an_index_are_not_lost():
    panel = long_frame().set_index(["machine", "minute"])
    with pytest.raises(ValueError, match="expected frames without a MultiIndex in a list, got 2 levels"):
        quick().fit([panel, panel], "state")
    with pytest.raises(ValueError, match="expected an index of at most two levels"):
        quick().fit(long_frame().assign(plant=1).set_index(["plant", "machine", "minute"]), "state")


def test_nested_columns_are_found_by_their_names():
    groups = [g for _, g in long_frame().assign(b=1.5).groupby("machine")]
    nested = pandas.DataFrame({name: [g[name] for g in groups] for name in ("a", "b")})
    model = quick().fit(nested, [g.state.to_numpy() for g in groups])
    assert all(np.array_equal(p, q) for p, q in zip(model.predict_proba(nested), model.predict_proba(nested[["b", "a"]])))


def test_frames_without_the_models_id_are_a_sequence_each(tmp_path):
    frame = long_frame()
    quick(id="machine", time="minute").fit(frame, "state").save(tmp_path / "m.json")
    model = remede.load(tmp_path / "m.json")
    parts = [g[["minute", "a"]] for _, g in frame.groupby("machine")]
    assert np.array_equal(np.concatenate(model.predict(parts)), model.predict(frame))


def test_weights_of_a_cube_have_its_shape():
    cube = np.random.default_rng(1).normal(size=(20, 5, 1))
    model = quick(remede.RecurrentTreeRegressor, axes="instance, time, channel")
    model.fit(cube, cube[:, :, 0], np.ones((20, 5)))
    with pytest.raises(ValueError, match="Sample weights must be 1D"):
        model.fit(cube, cube[:, :, 0], np.ones((5, 20)))
