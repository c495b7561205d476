"""What the package shows of itself: its public names, and nothing of the modules behind them."""

import importlib.util
import pickle
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import pytest

import tetrion

CLIENT = Path(__file__).parent.parent
# Modules that users import by name, besides those that need a library: `tetrion.sb3`, `tetrion.ray`, `tetrion.dataset` and
# `tetrion.pettingzoo`; and `tetrion.lab`, which is a command.
MODULES = {"errors", "records", "tasks"}


# Each is a promise to users: a name that is added here stays.
NAMES = [
    "ActionDigit",
    "cem",
    "AfterstateEnv",
    "AfterstateVectorEnv",
    "Beam",
    "Catalog",
    "CemConfig",
    "CemOptimizer",
    "Client",
    "ConnectionSettings",
    "Drawing",
    "DrawnSeeds",
    "EpisodeEnd",
    "EpisodeEndedError",
    "EstimateSummary",
    "Estimates",
    "Estimation",
    "Evaluation",
    "EvaluationOptions",
    "EvaluationProgress",
    "EvaluationRun",
    "EvaluationStarted",
    "EvaluationSummary",
    "FeaturesLike",
    "Final",
    "Flattener",
    "Games",
    "GarbageFields",
    "Generation",
    "genetic",
    "GeneticConfig",
    "GeneticOptimizer",
    "History",
    "IllegalActionError",
    "InvalidArgumentError",
    "InvalidRequestError",
    "KeypressEnv",
    "KeypressVectorEnv",
    "KEYS",
    "Mlp",
    "Noise",
    "NTuple",
    "Observed",
    "Packed",
    "PairedDifference",
    "PlacementEnv",
    "Placements",
    "PlacementsOptions",
    "PlacementVectorEnv",
    "Planes",
    "PoliciesLike",
    "Policy",
    "PolicySummary",
    "Recorder",
    "RecordGames",
    "Recording",
    "RecordVectorGames",
    "Replay",
    "ResetNeededError",
    "Round",
    "RulesFields",
    "RulesLike",
    "Scene",
    "ScoringFields",
    "Search",
    "Server",
    "ServerInfo",
    "Servers",
    "ServerUnavailableError",
    "Session",
    "SessionConfig",
    "SessionNotFoundError",
    "Statistics",
    "Stepped",
    "StepStream",
    "TetrionError",
    "Tls",
    "TrainedGeneration",
    "Training",
    "TuplePattern",
    "VersusEnv",
    "VersusVectorEnv",
    "WatchedEnv",
    "WatchedEpisode",
    "WatchedFrame",
    "Watching",
]


def test_dir_shows_public_names_only():
    assert set(dir(tetrion)) == {*NAMES, *MODULES, "__version__"}
    assert sorted(tetrion.__all__) == sorted(NAMES)


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
    assert b"tetrion._" not in pickle.dumps(tetrion.DrawnSeeds(1, 10))
    for name in ("tetrion/Placement-v0", "tetrion/Afterstate-v0", "tetrion/Keypress-v0", "tetrion/Versus-v0"):
        spec = gymnasium.spec(name)
        assert spec.entry_point.startswith("tetrion:")
        assert spec.vector_entry_point.startswith("tetrion:")


@pytest.fixture
def hatch_build(monkeypatch):
    for name in ("builders.hooks", "metadata"):
        hooks = SimpleNamespace(BuildHookInterface=object, MetadataHookInterface=object)
        monkeypatch.setitem(sys.modules, f"hatchling.{name}.plugin.interface", hooks)
    path = CLIENT / "hatch_build.py"
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    hatch_build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hatch_build)
    return hatch_build


def test_free_threaded_pythons_are_refused(hatch_build, monkeypatch, tmp_path):
    """They cannot load the extension module, and a wheel that they build must not claim `cp311-abi3`."""
    library = tmp_path / "library.so"
    library.write_bytes(b"")
    monkeypatch.setenv("TETRION_NATIVE", str(library))
    assert hatch_build.native_library(CLIENT) == library
    monkeypatch.setattr(sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
    with pytest.raises(RuntimeError, match="this Python is free-threaded"):
        hatch_build.native_library(CLIENT)
    monkeypatch.delenv("TETRION_NATIVE")
    with pytest.raises(RuntimeError, match="this Python is free-threaded"):
        hatch_build.native_library(CLIENT)


def test_without_cargo_an_installation_says_what_to_do(hatch_build, monkeypatch, tmp_path):
    monkeypatch.delenv("TETRION_NATIVE", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"^cargo is not installed.*rustup\.rs, or install a wheel$"):
        hatch_build.native_library(CLIENT)
    with pytest.raises(RuntimeError, match=r"^a source distribution has no Rust in it.* TETRION_NATIVE to the path"):
        hatch_build.native_library(tmp_path / "clients/python")
    monkeypatch.setenv("TETRION_NATIVE", "off")
    with pytest.raises(RuntimeError, match="TETRION_NATIVE is 'off', which is no file"):
        hatch_build.native_library(CLIENT)
