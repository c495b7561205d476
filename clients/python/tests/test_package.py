"""What the package shows of itself: its public names, and nothing of the modules behind them."""

import pickle
import subprocess
import sys

import gymnasium

import tetrion

# Modules that users import by name, besides those that need a library: `tetrion.sb3` and `tetrion.ray`.
MODULES = {"errors", "models"}


def test_dir_shows_public_names_only():
    assert sorted(dir(tetrion)) == sorted({*tetrion.__all__, *MODULES, "__version__"})
    assert tetrion.__all__ == sorted(tetrion.__all__)
    assert not [name for name in tetrion.__all__ if name.startswith("_")]


def test_importing_it_adds_no_other_name():
    script = "import tetrion; print(*(name for name in vars(tetrion) if not name.startswith('_')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) == {*tetrion.__all__, *MODULES}


def test_what_it_exports_is_called_by_its_public_name():
    private = {
        name: getattr(tetrion, name).__module__
        for name in tetrion.__all__
        if getattr(getattr(tetrion, name), "__module__", "tetrion") != "tetrion"
    }
    assert private == {}
    assert b"tetrion._" not in pickle.dumps(tetrion.SeedRange(1, 10))
    for name in ("tetrion/Placement-v0", "tetrion/Keypress-v0"):
        spec = gymnasium.spec(name)
        assert spec.entry_point.startswith("tetrion:")
        assert spec.vector_entry_point.startswith("tetrion:")
