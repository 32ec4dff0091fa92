"""The package remede-cuda, whose extension takes the place of remede's own. A stand-in for it holds a copy of that one."""
import importlib.metadata
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

from remede import _native

if importlib.util.find_spec("remede_cuda"):
    pytest.skip("the package itself is installed", allow_module_level=True)

CODE = "import remede; from remede import _native, _data; assert _data._native is _native; print(_native.__file__, remede.__version__, remede.tasks()[0])"


def stand_in(folder, version):
    """A folder with the package, of this version."""
    package = folder / "remede_cuda"
    package.mkdir()
    copied = shutil.copy(_native.__file__, package)
    (package / "__init__.py").write_text(f"__version__ = {version!r}\nextension = {copied!r}\n")
    return copied


def imported(folder):
    return subprocess.run([sys.executable, "-c", CODE], env={"PYTHONPATH": str(folder)}, check=True, capture_output=True, text=True)


def test_its_extension_is_taken(tmp_path):
    copied = stand_in(tmp_path, importlib.metadata.version("remede"))
    done = imported(tmp_path)
    assert done.stdout.split()[0] == copied and done.stderr == ""


def test_one_of_another_version_is_left_alone(tmp_path):
    stand_in(tmp_path, "0.0.1")
    done = imported(tmp_path)
    assert pathlib.Path(done.stdout.split()[0]) == pathlib.Path(_native.__file__)
    assert "remede-cuda: expected version" in done.stderr and "got 0.0.1" in done.stderr


def test_without_it_the_own_extension_is_taken(tmp_path):
    assert pathlib.Path(imported(tmp_path).stdout.split()[0]) == pathlib.Path(_native.__file__)
