"""The environment of a benchmark's peers, apart from the user's own."""
import os
import subprocess
import sys
import venv


def enter(folder, packages, checkout=None):
    """Installs what is missing into `folder`, the package of `checkout` anew, and starts this program again in there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    have = "\n" + subprocess.run([python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"], capture_output=True, text=True).stdout
    for package in [p for p in packages if f"\n{p}==" not in have] + ([str(checkout)] if checkout else []):
        print(f"installing {package}", file=sys.stderr, flush=True)
        if subprocess.run([*pip, "install", package]).returncode != 0:
            print(f"{package}: cannot be installed, what needs it is left out", file=sys.stderr)
    os.execv(python, [str(python), *sys.argv])
