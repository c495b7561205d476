"""What the package shows of itself: its public names, and nothing of the modules behind them."""

import pickle
import subprocess
import sys

import gymnasium

import tetrion

# Modules that users import by name, besides those that need a library: `tetrion.sb3`, `tetrion.ray` and `tetrion.dataset`.
MODULES = {"errors", "records", "tasks"}


# Each is a promise to users: a name that is added here stays.
NAMES = [
    "ActionDigit",
    "cem",
    "AfterstateEnv",
    "AfterstateVectorEnv",
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
    for name in ("tetrion/Placement-v0", "tetrion/Afterstate-v0", "tetrion/Keypress-v0"):
        spec = gymnasium.spec(name)
        assert spec.entry_point.startswith("tetrion:")
        assert spec.vector_entry_point.startswith("tetrion:")
