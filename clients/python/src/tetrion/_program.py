"""The `tetrion` program, which the extension module contains.

Servers run this file by its path: it loads only the extension module, not the package with all its dependencies.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Runs the program, and exits with its code."""
    files = [Path(__file__).with_name(f"_native{suffix}") for suffix in EXTENSION_SUFFIXES]
    file = next(file for file in files if file.is_file())
    spec = importlib.util.spec_from_file_location("_native", file)
    assert spec is not None, "it is an extension module"
    assert spec.loader is not None, "it is an extension module"
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    # The program handles Ctrl-C itself, or leaves it to the system.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    native.main(["tetrion", *arguments], [sys.executable, "-I", "-S", __file__])


if __name__ == "__main__":
    main(sys.argv[1:])
