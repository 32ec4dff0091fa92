"""What Python writes goes through the same code as the program's outputs: whole, through links, with the mode of the old file."""
import os
import stat

import pytest

import remede


def test_a_saved_model_follows_links_and_keeps_the_mode(model, tmp_path):
    old, link = tmp_path / "old.json", tmp_path / "link.json"
    old.write_text("an earlier model")
    old.chmod(0o640)
    link.symlink_to("old.json")
    model.save(link)
    assert link.is_symlink() and stat.S_IMODE(old.stat().st_mode) == 0o640
    assert remede.load(old).to_text() == model.to_text()
    assert sorted(os.listdir(tmp_path)) == ["link.json", "old.json"]


def test_a_link_to_nothing_gets_its_file(model, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "new.json")
    model.save(tmp_path / "link.json")
    assert (tmp_path / "new.json").is_file() and (tmp_path / "link.json").is_symlink()


def test_a_model_may_be_saved_where_it_came_from(model, tmp_path):
    model.save(tmp_path / "m.json")
    before = (tmp_path / "m.json").read_bytes()
    remede.load(tmp_path / "m.json").save(tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == before


def test_what_cannot_be_written_is_told_and_leaves_nothing(model, tmp_path):
    for path, words in ((tmp_path / "no" / "m.json", "cannot write"), (tmp_path, "is a folder"), ("", "expected the name of a file")):
        with pytest.raises(ValueError, match=words):
            model.save(path)
    assert os.listdir(tmp_path) == []
