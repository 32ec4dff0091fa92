"""Proofs and counterexamples from Python: the program's own words, and agreement with Z3 where it is installed."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

import remede

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGN = {"format": "remede model", "version": 1, "task": "classification", "inputs": ["x1"], "fill": [0], "targets": ["y"], "classes": ["-1", "0", "1"],
        "id": "sequence", "time": "step", "trees": [
            {"cells": 2, "write_rule": "blend", "write_reads": "inputs", "write_bias": True, "leaf_output": "constant", "output_order": "zero",
             "nodes": [{"number": 0, "cell": 1, "threshold": 0.5, "missing": "left", "left": 3, "right": 1},
                       {"number": 1, "input": "x1", "threshold": 0.75, "missing": "left", "left": 4, "right": 2},
                       {"number": 2, "cell": 0, "threshold": 0, "missing": "left", "left": 5, "right": 6}],
             "leaves": [{"number": 3, "output": [-4, 5, -4], "writes": [{"cell": 0, "blend": 1, "bias": 0, "weights": [20]},
                                                                        {"cell": 1, "blend": 1, "bias": 3, "weights": [0]}]},
                        {"number": 4, "output": [-4, 5, -4], "writes": []}, {"number": 5, "output": [6, -3, -3], "writes": []},
                        {"number": 6, "output": [-3, -3, 6], "writes": []}]}],
        "training": {"settings": {}, "training_loss": [], "validation_loss": []}}


@pytest.fixture
def sign(tmp_path):
    (tmp_path / "sign.json").write_text(json.dumps(SIGN))
    return remede.load(tmp_path / "sign.json")


def test_verdicts_and_counterexamples(sign):
    result = sign.verify(["never says 1 unless once x1 >= 0.75", "never says 1"])
    assert result.verdicts == ["holds", "fails"] and not result.holds
    assert result.counterexamples[0] is None and len(result.counterexamples[1]) == 2
    assert str(result).startswith("holds: never says 1 unless once x1 >= 0.75\n")
    live, said = sign.stream(), None
    for row in result.counterexamples[1]:
        said = live.step(row)
    assert "1" in str(said)
    assert sign.verify("never says 1", assume="x1 in -1..0.5").holds


def test_the_words_are_the_program_s(sign, program, tmp_path):
    text = "never says -1 unless previously once (x1 < 0 or x1 missing)"
    done = program("verify", tmp_path / "sign.json", "--property", text)
    assert done.stdout.decode() == str(sign.verify(text))


def test_checks_equality_and_languages(sign, tmp_path):
    checks = sign.verify()["checks"]
    assert checks["cells"][1]["high"] <= 1 and checks["never_said"] == []
    assert sign.verify(equals=sign).holds
    ones = {"alphabet": [1], "states": ["a", "b"], "transitions": {"a": {"1": "b"}, "b": {"1": "b"}}, "accepting": [], "accept": "-1"}
    assert sign.verify(automaton=ones).holds
    (tmp_path / "ones.json").write_text(json.dumps({**ones, "accepting": ["b"]}))
    assert sign.verify(automaton=tmp_path / "ones.json").verdicts == ["fails"]
    assert sign.verify(robust=[[[0.5], [0.0], [1.0]]])["robustness"]["proved"] == pytest.approx(0.25, rel=1e-2)


def test_within_data(sign):
    data = [[[0.5], [0.0], [1.0]]]
    assert sign.verify("x1 in 0..1", within=data).holds and not sign.verify("x1 in 0..1").holds


def test_errors(sign):
    with pytest.raises(remede.Error, match="expected one of the classes -1, 0, 1, got '2' at character 12"):
        sign.verify("never says 2")
    with pytest.raises(ValueError, match="effort"):
        sign.verify("never says 1", effort=0)


def test_a_certificate_is_checked_by_the_independent_program(sign, tmp_path):
    result = sign.verify("never says 1 unless once x1 >= 0.75")
    (tmp_path / "proof.json").write_text(result.certificate)
    check = [sys.executable, "-B", str(ROOT / "tools" / "check_certificate.py"), str(tmp_path / "sign.json"), str(tmp_path / "proof.json")]
    assert subprocess.run(check, stdout=subprocess.PIPE).returncode == 0
    proof = json.loads(result.certificate)
    proof["properties"][0]["states"].pop(0)
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    assert subprocess.run(check, stdout=subprocess.PIPE).returncode != 0


def test_the_checker_is_short_and_alone():
    text = (ROOT / "tools" / "check_certificate.py").read_text()
    assert len(text.splitlines()) <= 300
    assert not any(line.startswith(("import remede", "from remede", "import numpy")) for line in text.splitlines())


def test_agrees_with_z3():
    pytest.importorskip("z3")
    spec = importlib.util.spec_from_file_location("verify_z3", ROOT / "bench" / "verify_z3.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SECONDS = 5
    agreed, differed, _ = module.agree(6, 2, most=12)
    assert differed == 0 and agreed >= 4
