"""The notebook of the Tetris lab, for a course: `python -m tetrion.lab` puts it into a folder and opens it in Jupyter.

The folder also gets `tetris/env.py`, with which the notebook of the original course runs on Tetrion's rules.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

__all__ = ["copy"]


def copy(folder: str | Path) -> Path:
    """Copies the notebook and its module into a folder, which it creates. Files that exist stay as they are.

    Returns:
        The path of the notebook.
    """
    package = Path(__file__).parent
    # A wheel has them in the package, an editable installation in the checkout.
    source = next(path for path in (package / "_course", package.parents[1] / "examples/course") if path.is_dir())
    for name in ("lab.ipynb", "tetris/env.py"):
        target = Path(folder) / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
    return Path(folder) / "lab.ipynb"


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command, and exits with Jupyter's code."""
    parser = argparse.ArgumentParser(prog="python -m tetrion.lab", description="Opens the notebook of the Tetris lab.")
    parser.add_argument("folder", nargs="?", default="tetris-lab", help="folder for the notebook [default: tetris-lab]")
    parser.add_argument("--copy", action="store_true", help="only put it there, without opening it")
    given = parser.parse_args(argv)
    try:
        notebook = copy(given.folder)
    except OSError as error:
        sys.exit(f"error: {error}")
    print(notebook)
    if given.copy:
        return
    jupyter = next((name for name in ("jupyterlab", "notebook") if find_spec(name)), None)
    if jupyter is None:
        sys.exit("Jupyter is not installed: open the notebook in your editor, or pip install jupyterlab matplotlib")
    sys.exit(subprocess.call([sys.executable, "-m", jupyter, str(notebook)]))


if __name__ == "__main__":
    main()
