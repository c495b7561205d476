"""Wrong arguments: each names the argument, its value and what was expected, before anything is sent."""

import dataclasses
import inspect
import pickle
import re

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tetrion

NAN = float("nan")


@pytest.fixture(scope="module")
def nowhere():
    """A client without a server: a call that gets past the checks fails with another error."""
    with tetrion.Client("127.0.0.1:1") as client:
        yield client


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"observations": "board"}, "observations is 'board', expected a list of names such as ['board']"),
        ({"observations": ["board", 3]}, "observations[1] is 3, expected a name such as 'board'"),
        ({"observations": {"board": 1}}, "observations is {'board': 1}, expected a list of names such as ['board']"),
        ({"infos": "lines"}, "infos is 'lines', expected a list of names such as ['lines']"),
        ({"infos": 5}, "infos is 5, expected a list of names such as ['lines']"),
        ({"features": 5}, "features is 5, expected the name of a feature set, or a list of features"),
        ({"features": ["holes", None]}, "features[1] is None, expected a name such as 'holes'"),
        ({"num_envs": "4"}, f"num_envs is '4', expected an integer from 1 to {2**32 - 1}"),
        ({"num_envs": 1.5}, f"num_envs is 1.5, expected an integer from 1 to {2**32 - 1}"),
        ({"num_envs": True}, f"num_envs is True, expected an integer from 1 to {2**32 - 1}"),
        ({"num_envs": -1}, f"num_envs is -1, expected an integer from 1 to {2**32 - 1}"),
        ({"seed": 2**64}, f"seed is {2**64}, expected an integer from 0 to {2**64 - 1}"),
        ({"seed": -1}, f"seed is -1, expected an integer from 0 to {2**64 - 1}"),
        ({"seed": "1"}, f"seed is '1', expected an integer from 0 to {2**64 - 1}"),
        ({"seed": np.float64(NAN)}, f"seed is nan, expected an integer from 0 to {2**64 - 1}"),
        ({"env_seeds": 7}, "env_seeds is 7, expected a list of seeds"),
        ({"env_seeds": [1, 2**64]}, f"env_seeds[1] is {2**64}, expected an integer from {-(2**63)} to {2**64 - 1}"),
        ({"env_seeds": [0.5]}, f"env_seeds[0] is 0.5, expected an integer from {-(2**63)} to {2**64 - 1}"),
        ({"piece_sequences": [1]}, "piece_sequences[0] is 1, expected a string of the letters IOTZSJL"),
        ({"piece_sequences": 1}, "piece_sequences is 1, expected a list, each a string of the letters IOTZSJL"),
        (
            {"autoreset_mode": "samstep"},
            "autoreset_mode is 'samstep', did you mean 'same_step'? expected one of next_step, ",
        ),
        ({"autoreset_mode": None}, "autoreset_mode is None, expected one of next_step, same_step, disabled"),
        ({"invalid_action_policy": "ignroe"}, "invalid_action_policy is 'ignroe', "),
        ({"max_episode_steps": "10"}, f"max_episode_steps is '10', expected an integer from 1 to {2**32 - 1}"),
        ({"action_mask": "no"}, "action_mask is 'no', expected True or False"),
        ({"ttl": "5"}, "ttl is '5', expected seconds, 0 or more"),
        ({"ttl": -1}, "ttl is -1, expected seconds, 0 or more"),
        ({"ttl": NAN}, "ttl is nan, expected seconds, 0 or more"),
        ({"ttl": float("inf")}, "ttl is inf, expected seconds, 0 or more"),
        ({"snapshot_every": -1}, f"snapshot_every is -1, expected an integer from 0 to {2**32 - 1}"),
        ({"rules": 10}, "rules is 10, expected a preset's name, or fields by name such as {'width': 6}"),
        ({"rules": {"width": "10"}}, "rules.width is '10', expected an integer, 0 or more"),
        ({"rules": {"height": 20.5}}, "rules.height is 20.5, expected an integer, 0 or more"),
        ({"rules": {"preview": -1}}, "rules.preview is -1, expected an integer, 0 or more"),
        ({"rules": {"width": 5e9}}, "rules.width is 5000000000.0, expected a smaller integer"),
        ({"rules": {"preset": 3}}, "rules.preset is 3, expected a string"),
        ({"rules": {"randomizer": "bag"}}, "rules.randomizer is 'bag', did you mean 'bag7'? expected one of uniform, "),
        ({"rules": {"randomizer": 10**30}}, "rules.randomizer is 1000000000000000000000000000000, expected one of uniform"),
        ({"rules": {"preset": "\ud800"}}, "rules.preset is '\\ud800', expected a string in Unicode"),
        ({"observations": ["\ud800"]}, "observations[0] is '\\ud800', expected a name such as 'board' in Unicode"),
        ({"rules": {"randomizer": 1.5}}, "rules.randomizer is 1.5, expected one of uniform, bag7, balanced, nes"),
        ({"rules": {"scoring": 1}}, "rules.scoring is 1, expected fields by name"),
        ({"rules": {"scoring": {"piece": "1"}}}, "rules.scoring.piece is '1', expected a number"),
        ({"rules": {"scoring": {"piece": NAN}}}, "rules.scoring.piece is nan, expected a number"),
        ({"rules": {"scoring": {"lines": 5}}}, "rules.scoring.lines is 5, expected a list"),
        ({"rules": {"scoring": {"lines": [1, 2, 3, "4"]}}}, "rules.scoring.lines[3] is '4', expected a number"),
    ],
)
def test_sessions(nowhere, given, said):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        nowhere.create_session(**given)
    assert str(caught.value).startswith(said)
    assert isinstance(caught.value, ValueError)
    ((field, problem),) = caught.value.violations
    assert f"{field} {problem}" == str(caught.value)


@pytest.mark.parametrize("name", ["PlacementEnv", "PlacementVectorEnv"])
def test_environments_too(client, name):
    for given, said in (
        ({"observations": "board"}, "observations is 'board'"),
        ({"rules": {"width": "10"}}, "rules.width is '10'"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            getattr(tetrion, name)(address=client, **given)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"width": 6}, "did you mean rules={'width': 6}?"),
        ({"widht": 6}, "did you mean rules={'width': 6}?"),
        ({"preset": "lab"}, "did you mean rules={'preset': 'lab'}?"),
        ({"scoring": {"piece": 1}}, "did you mean rules={'scoring': {'piece': 1}}?"),
        ({"observation": ["board"]}, "did you mean 'observations'?"),
        ({"max_episode_step": 5}, "did you mean 'max_episode_steps'?"),
        ({"timeout": 5}, "did you mean address=tetrion.Client(..., timeout=...)?"),
        ({"tls": True}, "did you mean address=tetrion.Client(..., tls=...)?"),
        ({"seed": 3}, "did you mean reset(seed=3)?"),
        ({"sed": 3}, "did you mean reset(seed=3)?"),
        ({"quite_another": 1}, "expected one of "),
    ],
)
def test_unknown_arguments_of_environments(given, meant):
    (name,) = given
    given = {"address": "127.0.0.1:1", **given}
    for make, what in (
        (lambda: gymnasium.make("tetrion/Placement-v0", **given), "PlacementEnv"),
        (lambda: gymnasium.make("tetrion/Keypress-v0", **given), "KeypressEnv"),
        (lambda: gymnasium.make_vec("tetrion/Placement-v0", num_envs=2, **given), "PlacementVectorEnv"),
        (lambda: tetrion.KeypressVectorEnv(2, **given), "KeypressVectorEnv"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            make()
        assert str(caught.value).startswith(f"{name} is not an argument of {what}, {meant}")
        assert "observations, features, " in str(caught.value)


@pytest.mark.parametrize(
    ("make", "given", "meant"),
    [
        ("make", {"num_envs": 3}, "gymnasium.make_vec(..., num_envs=3)"),
        ("make", {"autoreset_mode": "same_step"}, "gymnasium.make_vec(..., autoreset_mode='same_step')"),
        ("make", {"copy": False}, "gymnasium.make_vec(..., copy=False)"),
        ("make", {"action_mask": True}, "'observe_mask'"),
        ("make", {"piece_sequence": "IO"}, "reset(options={'piece_sequence': 'IO'})"),
        ("make_vec", {"piece_sequences": ["IO"]}, "reset(options={'piece_sequences': ['IO']})"),
    ],
)
def test_arguments_that_belong_elsewhere(make, given, meant):
    (name,) = given
    more = {"num_envs": 2} if make == "make_vec" else {}
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        getattr(gymnasium, make)("tetrion/Placement-v0", address="127.0.0.1:1", **more, **given)
    assert f"{name} is not an argument of Placement" in str(caught.value)
    assert f", did you mean {meant}? expected one of " in str(caught.value)


def test_other_unknown_arguments(nowhere):
    for call, said in (
        (lambda: tetrion.Client(adress="127.0.0.1:1"), "adress is not an argument of Client, did you mean 'address'?"),
        (lambda: tetrion.Client("127.0.0.1:1", tokn="a"), "tokn is not an argument of Client, did you mean 'token'?"),
        (
            lambda: tetrion.Client("127.0.0.1:1", ttl=5),
            "ttl is not an argument of Client, did you mean 'tls'? expected one of",
        ),
        (lambda: tetrion.Servers(["127.0.0.1:1"], tokn="a"), "tokn is not an argument of Servers, did you mean 'token'?"),
        (
            lambda: nowhere.create_session(width=6),
            "width is not an argument of create_session, did you mean rules={'width': 6}?",
        ),
        (
            lambda: nowhere.create_session(autoreset="disabled"),
            "autoreset is not an argument of create_session, did you mean 'autoreset_mode'?",
        ),
        (
            lambda: nowhere.enumerate_placements(tetrion.Drawing([], "I"), feature="bcts8"),
            "feature is not an argument of enumerate_placements, did you mean 'features'?",
        ),
        (
            lambda: nowhere.enumerate_placements(tetrion.Drawing([], "I"), width=6),
            "width is not an argument of enumerate_placements, did you mean rules={'width': 6}?",
        ),
        (
            lambda: nowhere.evaluate("bcts", seeds=[1], max_piece=5),
            "max_piece is not an argument of evaluate, did you mean 'max_pieces'? expected one of policies, ",
        ),
        (
            lambda: nowhere.evaluate("bcts", seeds=[1], recrod="best"),
            "recrod is not an argument of evaluate, did you mean 'record'?",
        ),
        (
            lambda: nowhere.start_evaluation("bcts", seeds=[1], width=6),
            "width is not an argument of start_evaluation, did you mean rules={'width': 6}?",
        ),
        (
            lambda: nowhere.evaluate("monte_carlo", seeds=[1], playouts=6),
            "playouts is not an argument of evaluate, did you mean tetrion.Policy(..., playouts=6)?",
        ),
        (
            lambda: tetrion.Servers(["127.0.0.1:1"]).evaluate("bcts", seeds=[1], on_progres=print),
            "on_progres is not an argument of evaluate, did you mean 'on_progress'?",
        ),
        (
            lambda: tetrion.cem(nowhere, generation=3),
            "generation is not an argument of cem, did you mean 'generations'?",
        ),
        (
            lambda: tetrion.genetic(evaluator=nowhere, width=6),
            "width is not an argument of genetic, did you mean rules={'width': 6}? expected one of evaluator, config, ",
        ),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            call()
        assert str(caught.value).startswith(said)


def test_arguments_by_position_that_have_a_name(nowhere):
    for call, said in (
        (
            lambda: tetrion.PlacementEnv(nowhere),
            "PlacementEnv takes no arguments by position, expected all others by name, ",
        ),
        (lambda: tetrion.KeypressVectorEnv(2, nowhere), "KeypressVectorEnv takes num_envs by position, expected all others"),
        (
            lambda: nowhere.create_session(2, "lab"),
            "create_session takes num_envs by position, expected all others by name, ",
        ),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            call()
        assert str(caught.value).startswith(said)
    assert str(caught.value).endswith("such as rules=...")


def test_checked_calls_keep_their_signatures():
    assert list(inspect.signature(tetrion.PlacementEnv).parameters)[:3] == ["address", "rules", "observations"]
    assert list(inspect.signature(tetrion.PlacementVectorEnv).parameters)[:3] == ["num_envs", "address", "rules"]
    assert inspect.signature(tetrion.Client.create_session).parameters["num_envs"].default == 1


@pytest.mark.parametrize(
    "mode", ["same_step", "SameStep", "SAME_STEP", "same-step", "Same Step", "samestep", AutoresetMode.SAME_STEP]
)
def test_every_spelling_of_an_autoreset_mode_everywhere(client, mode):
    with client.create_session(2, autoreset_mode=mode) as session:
        assert session._message.config.autoreset_mode == 2
    for envs in (
        tetrion.PlacementVectorEnv(2, address=client, autoreset_mode=mode),
        tetrion.KeypressVectorEnv(2, address=client, autoreset_mode=mode),
        gymnasium.make_vec("tetrion/Placement-v0", num_envs=2, address=client, autoreset_mode=mode),
    ):
        assert envs.unwrapped.autoreset_mode is envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        assert envs.unwrapped.session._message.config.autoreset_mode == 2
        envs.close()


def test_every_spelling_of_other_names(client):
    for rules in ({"randomizer": "bag7"}, {"randomizer": "BAG-7"}, {"randomizer": "RANDOMIZER_BAG7"}):
        with client.create_session(rules=rules) as session:
            assert session._message.config.rules.randomizer == 2
    for name in ("Color-Blind", "color_blind"):
        tetrion.PlacementEnv(address=client, render_mode="RGB-array", render_palette=name).close()
    for wrong in (["usual"], 5, None):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^render_palette is .*, expected one of usual, color-blind"):
            tetrion.PlacementEnv(address=client, render_palette=wrong)


@pytest.mark.parametrize("two", [2, 2.0, np.int64(2), np.uint8(2), np.float32(2), np.array(2.0)])
def test_numbers_from_files_and_from_numpy_count_everywhere(client, two):
    """As YAML and arithmetic have them: 2.0 is 2. Actions alone are integers."""
    action = int(two)
    kwargs = {
        "rules": {"width": two * 3, "height": two * 4, "preview": two},
        "max_episode_steps": two,
        "snapshot_every": two,
    }
    env = tetrion.PlacementEnv(address=client, ttl=two * 50, **kwargs)
    env.reset(seed=two)
    assert env.step(action)[0]["board"].sum() == 4
    env.restore_state(env.save_state(), reseed=two)
    vector = [
        tetrion.PlacementVectorEnv(two, address=client, **kwargs),
        gymnasium.make_vec("tetrion/Placement-v0", num_envs=two, address=client, **kwargs),
    ]
    for envs in vector:
        assert envs.num_envs == 2
        for seed in (two, [two, two]):
            assert envs.reset(seed=seed)[0]["board"].shape == (2, 8, 6)
        envs.step(np.array([action, action]))
    states = vector[0].save_state()
    vector[0].restore_state(states[0], [two - 1], reseed=two)
    with client.create_session(two, seed=two, max_episode_steps=two) as session, session.clone(two) as twin:
        assert twin.num_envs == 2
        session.reset([two - 1])
        with tetrion.Recorder(session) as recorder, client.watch(session, [two - 1], render_fps=two, render_scale=two):
            session.reset(seeds=[two, two])
            session.step([action, action])
            session.fork(two - 1, [0], reseed=two)
            assert recorder.recording(two - 1).pieces == 1
    assert client.catalog(width=two * 5).features
    seeds = tetrion.DrawnSeeds(two, two)
    options = {
        "max_pieces": two * 5,
        "episodes_per_seed": two,
        "max_parallelism": two,
        "baseline": two - 2,
        "search": tetrion.Search(lookahead=two - 1),
    }
    result = client.evaluate(weights=np.ones((2, 8)), features="bcts8", seeds=seeds, rules={"preview": two}, **options)
    assert len(result.lines) == 8


@pytest.mark.parametrize("wrong", [True, "2", 1.5, NAN, np.bool_(True), [2]])
def test_what_is_no_number_counts_nowhere(client, wrong):
    session = client.create_session(3)
    session.reset()
    env, envs = tetrion.PlacementEnv(address=client), tetrion.PlacementVectorEnv(2, address=client)
    env.reset(seed=1)
    envs.reset(seed=1)
    state = env.save_state()
    for name, call in {
        "num_envs": lambda: tetrion.PlacementVectorEnv(wrong, address=client),
        "max_episode_steps": lambda: tetrion.PlacementEnv(address=client, max_episode_steps=wrong),
        "snapshot_every": lambda: tetrion.PlacementVectorEnv(2, address=client, snapshot_every=wrong),
        "seed": lambda: env.reset(seed=wrong),
        "seed[1]": lambda: envs.reset(seed=[1, wrong]),
        "reseed": lambda: env.restore_state(state, reseed=wrong),
        "env_ids[0]": lambda: envs.restore_state(state, [wrong]),
        "num_servers": lambda: tetrion.Servers(["127.0.0.1:1"], num_servers=wrong),
        "clone": lambda: session.clone(wrong),
        "env_id": lambda: tetrion.Recorder(session).recording(wrong),
        "action": lambda: env.step(wrong),
    }.items():
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            call()
        assert str(caught.value).startswith("num_envs" if name == "clone" else name), name
    for name in ("observe_mask", "copy", "action_mask"):
        if not isinstance(wrong, (bool, np.bool_)):
            with pytest.raises(tetrion.InvalidArgumentError, match=f"^{name} is .*, expected True or False"):
                tetrion.PlacementVectorEnv(2, address=client, **{name: wrong})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policies": ()}, "policies are not given, nor weights, expected a policy such as 'bcts'"),
        ({"policies": []}, "policies are not given, nor weights"),
        ({"seeds": [1], "piece_sequences": ["I"]}, "seeds and piece_sequences are both given, expected one"),
        ({"seeds": 5}, "seeds is 5, expected a list of seeds such as [1, 2, 3], or DrawnSeeds(seed, count) such as Dr"),
        ({"seeds": []}, "seeds is [], expected a list of seeds such as "),
        ({"seeds": "1"}, "seeds is '1', expected a list of seeds such as "),
        ({"seeds": range}, "seeds is <class 'range'>, expected a list of seeds such as "),
        ({"seeds": [[1], [2, 3]]}, "seeds is [[1], [2, 3]], expected rows of one length"),
        ({"seeds": [True, False]}, "seeds has elements of bool, expected uint64"),
        ({"seeds": tetrion.DrawnSeeds(2**64, 5)}, f"seeds.seed is {2**64}, expected an integer"),
        ({"seeds": tetrion.DrawnSeeds(1, "5")}, "seeds.count is '5', expected an integer"),
        ({"policies": 5}, "policies is 5, expected names of policies such as 'bcts', or Policies such as Policy(formula="),
        ({"policies": len}, "policies is <built-in function len>, expected names of policies such as 'bcts', or Policies"),
        ({"policies": ["bcts", len]}, "policies[1] is <built-in function len>, expected names of policies such as"),
        ({"policies": ["bcts", 5]}, "policies[1] is 5, expected the name of a policy, or a Policy"),
        ({"weights": [1.0, NAN]}, "weights[1] is nan, expected a finite number"),
        ({"weights": [[1.0], [float("inf")]]}, "weights[1, 0] is inf, expected a finite number"),
        ({"weights": []}, "weights is [], expected numbers, one row of them or several of one length"),
        ({"weights": [[1.0], [1.0, 2.0]]}, "weights is [[1.0], [1.0, 2.0]], expected rows of one length"),
        ({"weights": np.zeros((1, 1, 1))}, "weights is array([[[0.]]]), expected numbers"),
        ({"weights": ["1"]}, "weights is ['1'], expected numbers"),
        (
            {"weights": [1.0], "terminal_value": "avoids"},
            "terminal_value is 'avoids', did you mean 'avoid'? expected one of avoid, score",
        ),
        (
            {"search": tetrion.Search()},
            "search is given without weights, expected weights; a policy has its own, as in Policy(",
        ),
        ({"policies": "dt-10", "search": tetrion.Search(lookahead=1)}, "search is given without weights"),
        # Not the default here: this controller has a search of its own, which a lookahead of 0 would take away.
        (
            {"policies": "tetrion-10x10-expectation", "search": tetrion.Search(lookahead=0)},
            "search is given without weights",
        ),
        (
            {"policies": "dt-10", "lookahead": 1},
            "lookahead is not an argument of {}, did you mean search=tetrion.Search(lookah",
        ),
        (
            {"expectation": True},
            "expectation is not an argument of {}, did you mean search=tetrion.Search(), in a tetrion.Pol",
        ),
        (
            {"policies": "dt-10", "terminal_value": "score"},
            "terminal_value is given without weights, expected weights; a policy has its",
        ),
        ({"terminal_value": "nonsense"}, "terminal_value is 'nonsense', expected one of avoid, score"),
        ({"policies": "dt-10", "features": "bcts8"}, "features is given without weights, expected weights; a policy has"),
        ({"features": "nope"}, "features is given without weights"),
        ({"features": 5}, "features is 5, expected the name of a feature set, or a list of features"),
        (
            {"weights": [1.0], "search": True},
            "search is True, expected a tetrion.Search, such as Search() or Search(lookahead",
        ),
        ({"weights": [1.0], "search": {"placements": 4}}, "search is {'placements': 4}, expected a tetrion.Search"),
        ({"max_pieces": "100"}, "max_pieces is '100', expected an integer"),
        ({"max_pieces": -1}, "max_pieces is -1, expected an integer"),
        ({"max_pieces": 0}, "max_pieces is 0, expected an integer from 1 to"),
        ({"max_steps": 0.5}, "max_steps is 0.5, expected an integer"),
        ({"episodes_per_seed": None}, "episodes_per_seed is None, expected an integer"),
        ({"baseline": -1}, "baseline is -1, expected an integer"),
        ({"max_parallelism": True}, "max_parallelism is True, expected an integer"),
        ({"include_results": 1}, "include_results is 1, expected True or False"),
        ({"progress_interval": 0 * NAN}, "progress_interval is nan, expected seconds, 0 or more"),
        ({"pairs": [0, 1]}, "pairs is [0, 1], expected rows of two: the index of a policy and of a seed"),
        ({"pairs": [[0, -1]]}, "pairs[0, 1] is -1, expected an integer"),
        (
            {"baseline": 0, "seeds": [[1, 2], [3, 4]]},
            "baseline is given with a list of seeds for each policy, expected common seeds",
        ),
        ({"policies": "bcts\ud800"}, "policies[0] is 'bcts\\ud800', expected the name of a policy"),
    ],
)
def test_evaluations(nowhere, given, said):
    given = {
        "policies": "bcts",
        **({} if {"piece_sequences", "seeds"} & set(given) else {"seeds": [1]}),
        **given,
    }
    for ask in (nowhere.evaluate, nowhere.start_evaluation):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            ask(**given)
        assert str(caught.value).startswith(said.replace("{}", ask.__name__))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"trials": 0}, "trials is 0, expected an integer from 1 to"),
        ({"trials": 2.5}, "trials is 2.5, expected an integer"),
        ({"baseline": 0}, "baseline is given for estimates, which are not compared"),
        ({"max_pieces": -1}, "max_pieces is -1, expected an integer"),
        (
            {"loss_trials": 9},
            "loss_trials is not an argument of estimate, did you mean 'trials'? expected one of policies, trials",
        ),
    ],
)
def test_estimates(nowhere, given, said):
    with tetrion.Servers(["127.0.0.1:1"]) as servers:
        for ask in (nowhere.estimate, servers.estimate):
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                ask("bcts", **{"seeds": [1], "trials": 16, **given})
            assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"progress": "yes"}, "progress is 'yes', expected True or False"),
        ({"progress": None}, "progress is None, expected True or False"),
        ({"on_progress": 3}, "on_progress is 3, expected a function that takes a report"),
        ({"progress": True, "on_progress": print}, "on_progress is given with progress=True, expected one of the two"),
    ],
)
def test_reports_of_evaluations(nowhere, given, said):
    with tetrion.Servers(["127.0.0.1:1"]) as servers:
        for ask in (nowhere.evaluate, nowhere.start_evaluation, servers.evaluate):
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                ask("bcts", seeds=[1], **given)
            assert str(caught.value) == said


@pytest.mark.parametrize("never", [float("inf"), 1e30, 1e10])
def test_a_timeout_may_be_as_long_as_you_like(server, never):
    with tetrion.Client(server, timeout=never, patience=never) as client:
        assert client.create_session(2).reset().infos["pieces"].tolist() == [0, 0]
        assert client.evaluate("bcts", seeds=[1], max_pieces=5).pieces.tolist() == [5]


def test_features_that_would_not_be_seen(client):
    for make in (
        lambda **given: tetrion.PlacementEnv(address=client, **given),
        lambda **given: tetrion.PlacementVectorEnv(2, address=client, **given),
        lambda **given: gymnasium.make("tetrion/Placement-v0", address=client, **given),
        lambda **given: gymnasium.make_vec("tetrion/Keypress-v0", num_envs=2, address=client, **given),
    ):
        for features in ("bcts8", ["holes"], ("holes", "max_height")):
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                make(observations=["current"], features=features)
            assert str(caught.value) == (
                "features are selected, and observations is ['current'], expected 'features' among them"
            )
        make(observations=["current", "features"], features="bcts8").close()
        make(features="bcts8").close()
        make(observations=["current"], features=[]).close()
    # Sessions list placements with them.
    with client.create_session(observations=["current"], features=["holes"]) as session:
        session.reset()
        assert session.enumerate_placements().feature_names == ("holes",)


@pytest.mark.parametrize("wrong", [False, "", [], {}, 0, -1, 2.5])
def test_a_length_of_episodes_that_is_none(client, wrong):
    for make in (lambda: tetrion.PlacementEnv(address=client, max_episode_steps=wrong),
                 lambda: tetrion.KeypressVectorEnv(2, address=client, max_episode_steps=wrong)):  # fmt: skip
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^max_episode_steps is .*, expected an integer from 1 to "):
            make()


def test_an_action_that_is_none(client):
    env = tetrion.PlacementEnv(address=client, rules={"width": 6})
    env.reset(seed=1)
    for wrong in (None, "left", 0.5, NAN, True, [0], 10**12):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^action is .*, expected an integer from 0 to 23$"):
            env.step(wrong)


def test_calls_of_a_session(client):
    with client.create_session(4, seed=1) as session:
        session.reset()
        before = session.sequence_number

        def refused(said, call, *arguments, **named):
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                call(*arguments, **named)
            assert str(caught.value).startswith(said)

        refused("actions has elements of bool, expected int32", session.step, [True, False, True, False])
        refused("actions[1] is nan, expected an integer", session.step, [0, NAN, 0, 0])
        refused("actions is 'left', expected an integer", session.step, "left")
        refused("env_ids is a mask, expected indices: numpy.flatnonzero(mask)", session.reset, np.array([True] * 4))
        refused("env_ids[0] is True, expected an integer", session.reset, [True, False])
        refused("env_ids[1] is -1, expected an integer", session.reset, [0, -1])
        refused("env_ids[0] is 0.5, expected an integer", session.reset, [0.5])
        refused("env_ids is 2, expected a list of environments", session.reset, 2)
        refused("seeds is 3, expected a list of seeds", session.reset, seeds=3)
        refused("seeds[0] is 1.5, expected an integer", session.reset, [0], seeds=[1.5])
        refused("seeds[0] is None, expected an integer", session.reset, [0], seeds=[None])
        refused("reseed is -1, expected an integer", session.restore_state, session.save_state(), reseed=-1)
        refused("positions is 5, expected snapshots as bytes, Drawings, Packed(boards, pieces)", session.restore_state, 5)
        refused("positions is [], expected snapshots", session.restore_state, [])
        refused("positions is bytearray(", session.restore_state, bytearray(session.save_state()[0]))
        refused("positions is <memory at ", session.restore_state, memoryview(session.save_state()[0]))
        refused("positions[0] is 'xy', expected a snapshot as bytes, or a Drawing", session.restore_state, ["xy"])
        mixed = [session.save_state([0])[0], tetrion.Drawing([], "I")]
        refused("positions has snapshots and drawings, expected one kind in one call", session.restore_state, mixed)
        refused("positions[0].rows is '##..'", session.restore_state, tetrion.Drawing("##..", "I"))
        refused(
            "positions[0].piece is 3, expected one of the letters IOTZSJL", session.restore_state, tetrion.Drawing([], 3)
        )
        refused("style is 'asci', did you mean 'ascii'? expected one of ascii, ", session.render, style="asci")
        refused("features is 5", session.enumerate_placements, features=5)
        refused("afterstates is 'no', expected True or False", session.enumerate_placements, afterstates="no")
        refused("keys is 1, expected True or False", session.enumerate_placements, keys=1)
        refused("cells is 1, expected True or False", session.enumerate_placements, cells=1)
        said = "is not an argument of enumerate_placements, did you mean"
        refused(f"cell {said} 'cells'? expected one of", session.enumerate_placements, cell=1)
        said = "is not an argument of send_placements, expected one of env_ids, "
        refused(f"rules {said}", session.stream().send_placements, rules="lab")
        refused("actions[0] is", session.enumerate_placements, actions=["left"])
        assert session.sequence_number == before == session.refresh().sequence_number


def test_packed_playfields(client):
    def refused(said, *packed):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            client.enumerate_placements(tetrion.Packed(*packed))
        assert str(caught.value).startswith(said)

    refused("boards[0, 0] is 65536, expected an integer from 0 to 65535", [[65536] + [0] * 19], [0])
    refused("boards[0, 1] is -1, expected an integer", [[0, -1]], [0])
    refused("pieces[0] is 'I', expected an integer from 0 to 255", [[0] * 20], ["I"])
    refused("queues[0, 0] is 200, expected an integer from -128 to 127", [[0] * 20], [0], [[200]])


def test_scores(client):
    placements = client.enumerate_placements(tetrion.Drawing([], "O"), features=["holes", "max_height"])

    def refused(said, call, *arguments):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            call(*arguments)
        assert str(caught.value).startswith(said)

    without = client.enumerate_placements(tetrion.Drawing([], "O"))
    refused("features were not asked for: enumerate_placements(..., features=...)", without.scores, [1.0])
    refused("weights are 3 weights, expected 2 features", placements.scores, [1.0, 2.0, 3.0])
    refused("weights are 1x2 weights, expected 2 features", placements.scores, [[1.0, 2.0]])
    refused("weights[0] is nan, expected a finite number", placements.scores, [NAN, 0.0])
    refused("scores have the shape (3,), expected one for each of 9 rows", placements.best_rows, [1.0, 2.0, 3.0])
    refused("scores[2] is nan, expected a number", placements.best_rows, np.array([1.0, 2.0, NAN] * 3))
    assert placements.best_rows(list(range(9))).tolist() == [8]


def test_equivalent_arguments_work(client):
    """Numbers of numpy, whole floats, tuples and arrays of names, arrays in any order and any byte order."""
    rules = {"width": np.int64(6), "height": 12.0, "preview": None, "scoring": {"lines": (1, np.float32(2), 3, 4)}}
    session = client.create_session(
        np.int64(2),
        rules=rules,
        observations=np.array(["board", "current"]),
        infos=("lines",),
        features=("holes",),
        seed=np.uint64(2**64 - 1),
        max_episode_steps=1e3,
        action_mask=np.True_,
    )
    with session:
        assert session._message.config.seeding.seed == 2**64 - 1
        assert session._message.config.max_episode_steps == 1000
        assert (session._message.config.rules.width, session._message.config.rules.height) == (6, 12)
        assert list(session.reset(np.arange(4)[::2] // 2).observations) == ["board", "current"]
        session.step(np.zeros((2, 2), ">i8")[:, 0])
    once = client.evaluate("bcts", weights=np.ones((8, 2))[:, 0], features="bcts8", seeds=np.arange(3.0), max_pieces=1e2)
    assert once.pieces.max() <= 100
    same = client.evaluate(["bcts"], weights=np.ones((8, 1), ">f4").T, features="bcts8", seeds=range(3), max_pieces=100)
    assert same.lines.tolist() == once.lines.tolist()
    # A string is one sequence of pieces, not a list of letters.
    assert client.evaluate("bcts", piece_sequences="OOOOO").pieces.tolist() == [5]


@pytest.mark.parametrize(
    "address",
    ["", "localhost", "http://127.0.0.1:50451", "https://127.0.0.1:50451", "127.0.0.1:", "::1:50451", "a b:5", 50451],
)
def test_addresses(address):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        tetrion.Client(address)
    assert str(caught.value) == f"address is {address!r}, expected 'host:port' without a scheme, such as '127.0.0.1:50451'"


@pytest.mark.parametrize("address", ["localhost:0", "localhost:65536", "localhost:99999", "[::1]:00000"])
def test_ports(address):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        tetrion.Client(address)
    assert str(caught.value) == f"address is {address!r}, expected a port from 1 to 65535"


def test_connections():
    for given, said in (
        ({"timeout": "5"}, "timeout is '5', expected seconds, 0 or more"),
        ({"timeout": NAN}, "timeout is nan, expected seconds, 0 or more"),
        ({"patience": -1}, "patience is -1, expected seconds, 0 or more"),
        ({"token": "a\nb"}, "token cannot be sent, expected printable ASCII characters"),
        ({"token": 5}, "token cannot be sent"),
        ({"tls": None}, "tls is None, expected True, False or a tetrion.Tls"),
        ({"tls": tetrion.Tls(server_name=5)}, "tls.server_name is 5, expected "),
        ({"options": ()}, "options is not an argument of "),
    ):
        for make in (tetrion.Client, tetrion.Servers):
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                make("127.0.0.1:1", **given)
            assert str(caught.value).startswith(said)
    with pytest.raises(tetrion.InvalidArgumentError, match="args is '--threads 2', expected a list of flags"):
        tetrion.Server(args="--threads 2")
    with pytest.raises(tetrion.InvalidArgumentError, match="timeout is '5', expected seconds"):
        tetrion.Server(timeout="5")
    with pytest.raises(tetrion.InvalidArgumentError, match="addresses is \\[\\], expected at least one address"):
        tetrion.Servers([])
    for target in ("unix:/tmp/tetrion.sock", "dns:///tetrion:50451", "[::1]:50451", "tetrion-0.tetrion:50451"):
        tetrion.Client(target).close()


def test_fields_that_a_session_has_not(client):
    with client.create_session(observations=["board"]) as session, pytest.raises(KeyError, match="expected one of board"):
        session.reset().observations["bord"]


@pytest.mark.parametrize("options", [tetrion.EvaluationOptions, tetrion.ConnectionSettings])
def test_every_option_is_explained(options):
    explained = re.findall(r"^        (\w+): ", options.__doc__, re.M)
    assert explained == list(options.__annotations__)


@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Keypress-v0"])
def test_torchrl_finds_out_that_there_is_no_frameskip(client, env_id):
    """Its GymEnv looks for these words in a TypeError of `gymnasium.make`, and then makes the environment without it."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gymnasium.make(env_id, address=client, frameskip=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "name is not given, nor are weights or a formula, expected one of the three"),
        ({"name": 3}, "name is 3, expected the name of a policy"),
        ({"name": "dt-10", "weights": [1.0]}, "weights are given with the name 'dt-10', expected one of the two"),
        ({"name": "dt-10", "features": "bcts8"}, "features is given with the name 'dt-10', expected weights instead of"),
        ({"name": "dt-10", "model": tetrion.Mlp([4])}, "model is given with the name 'dt-10', expected weights instead of"),
        ({"formula": 3}, "formula is 3, expected a formula, such as '-holes - max_height^2'"),
        ({"name": "dt-10", "formula": "holes"}, "formula is given with the name 'dt-10', expected one of the two"),
        (
            {"weights": [1.0], "features": ["holes"], "formula": "holes"},
            "formula is given with weights, expected one of the two",
        ),
        (
            {"formula": "holes", "model": tetrion.Mlp([4])},
            "model is given with a formula, expected weights instead of the formula",
        ),
        ({"formula": "holes", "playouts": 3}, "playouts is given with a formula, expected one of monte_carlo"),
        ({"weights": [1.0]}, "features is not given, expected what the weights are for, such as 'bcts8'"),
        (
            {"weights": [1.0], "features": "bcts8", "playouts": 3},
            "playouts is given with weights, expected one of monte_carlo",
        ),
        (
            {"name": "bcts", "playouts": 3},
            "playouts is given with the name 'bcts', expected one of monte_carlo, monte_carlo_",
        ),
        (
            {"weights": [[1.0], [2.0]], "features": ["holes"]},
            "weights is [[1.0], [2.0]], expected one row; evaluate(weights=",
        ),
        ({"weights": [NAN], "features": ["holes"]}, "weights[0] is nan, expected a finite number"),
        (
            {"name": "dt-10", "terminal_value": "avoids"},
            "terminal_value is 'avoids', did you mean 'avoid'? expected one of avoid, score",
        ),
        ({"name": "dt-10", "search": {}}, "search is {}, expected a tetrion.Search"),
        ({"name": "monte_carlo", "playouts": 0}, "playouts is 0, expected an integer from 1 to"),
        ({"name": "dt-10", "label": 5}, "label is 5, expected a string"),
        ({"weights": [1.0], "features": ["holes"], "model": 5}, "model is 5, expected an Mlp or an NTuple"),
    ],
)
def test_policies(given, said):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        tetrion.Policy(**given)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pieces": -1}, "search.pieces is -1, expected an integer"),
        ({"placements": 2.5}, "search.placements is 2.5, expected an integer"),
        ({"lost_piece": NAN}, "search.lost_piece is nan, expected a number"),
        ({"discount": True}, "search.discount is True, expected a number"),
        ({"terms": "lands"}, "search.terms is 'lands', did you mean 'landing'? expected one of landing, all, none"),
        ({"lookahead": -1}, "search.lookahead is -1, expected an integer"),
        ({"lookahead": 1, "caution": 0.5}, "search.lookahead is given with caution, expected one of the two"),
        ({"beam": tetrion.Beam(), "pieces": 1}, "search.beam is given with pieces, expected one of the two"),
        ({"beam": 16}, "search.beam is 16, expected a tetrion.Beam, such as Beam(width=32)"),
    ],
)
def test_searches(given, said):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        tetrion.Search(**given)
    assert str(caught.value).startswith(said)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"search\.beam\.width is 'wide', expected an integer"):
        tetrion.Beam(width="wide")
    with pytest.raises(tetrion.InvalidArgumentError, match=r"search\.beam\.attack is None, expected a number"):
        tetrion.Beam(attack=None)


def test_policies_compare_by_what_they_say():
    row = np.array([1.0, -2.0])
    policy = tetrion.Policy(weights=row, features=["holes", "max_height"], terminal_value="SCORE")
    same = tetrion.Policy(weights=[1, -2.0], features=("holes", "max_height"), terminal_value="score")
    assert policy == same == pickle.loads(pickle.dumps(policy))
    assert hash(policy) == hash(same)
    assert tetrion.Mlp([3], "ReLU") == tetrion.Mlp((3.0,)) != tetrion.Mlp([3], "softsign")
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.label = "another"


def test_the_policy_of_an_evaluation_is_checked_before_its_seeds(client):
    for given, said in (
        ({"policies": "bctz"}, 'no policy is called "bctz", did you mean "bcts"?'),
        ({"weights": [1.0, 2.0], "features": "bcts8"}, "weights"),
    ):
        with pytest.raises(tetrion.InvalidRequestError, match=re.escape(said)):
            client.evaluate(**given)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"a player in Python plays in an environment, where reset\(seed"):
        client.evaluate(lambda observation: 0)


def test_an_evaluation_without_seeds_draws_a_hundred(client):
    by_default = client.evaluate("bcts", max_pieces=5)
    assert by_default == client.evaluate("bcts", max_pieces=5, seeds=tetrion.DrawnSeeds(1, 100))
    assert len(by_default) == 100


def array_arguments(client):
    """Calls with an array, by the argument that their errors name."""
    session = client.create_session(3, seed=1)
    session.reset()
    stream = session.stream()
    env, envs = tetrion.PlacementEnv(address=client), tetrion.PlacementVectorEnv(3, address=client)
    rows = tetrion.AfterstateVectorEnv(3, address=client)
    for each in (env, envs, rows):
        each.reset(seed=1)
    placements = session.enumerate_placements()
    boards, pieces = np.zeros((3, 20), np.uint16), np.zeros(3, np.uint8)
    actions = {
        "session": (session.step, "actions"),
        "session, some": (lambda given: session.step(given, [0, 1, 2]), "actions"),
        "stream": (stream.step, "actions"),
        "stream, ahead": (stream.send_step, "actions"),
        "envs": (envs.step, "actions"),
        "envs, ahead": (envs.step_async, "actions"),
        "rows": (rows.step, "actions"),
        "env": (lambda given: env.step(given[1:2]), "action"),
        "placements": (lambda given: session.enumerate_placements(actions=given), "actions"),
        "chosen rows": (placements.actions_of, "rows"),
    }
    return actions | {
        "ids": (lambda given: session.step(np.zeros(3, int), given), "env_ids"),
        "seeds": (lambda given: session.reset(seeds=given), "seeds"),
        "seeds of games": (lambda given: client.evaluate("bcts", seeds=given, max_pieces=3), "seeds"),
        "env seeds": (lambda given: client.create_session(3, env_seeds=given), "env_seeds"),
        "seeds of envs": (lambda given: envs.reset(seed=given), "seed["),
        "seed": (lambda given: env.reset(seed=given[1:2]), "seed"),
        "weights": (lambda given: client.evaluate(weights=given, features=["holes"] * 3), "weights"),
        "weights of a policy": (lambda given: tetrion.Policy(weights=given, features="bcts8"), "weights"),
        "pairs": (lambda given: client.evaluate("bcts", seeds=[1, 2], pairs=given), "pairs"),
        "boards": (lambda given: client.enumerate_placements(tetrion.Packed(given, 0)), "boards"),
        "pieces": (lambda given: client.enumerate_placements(tetrion.Packed(boards, given)), "pieces"),
        "held": (lambda given: client.enumerate_placements(tetrion.Packed(boards, pieces, held=given)), "held"),
        "digits": (session.decode_actions, "actions"),
        "num_envs": (lambda given: client.create_session(given[1:2]), "num_envs"),
        "ttl": (lambda given: client.create_session(ttl=given[1:2]), "ttl"),
    }


def test_arrays_with_hidden_elements_and_times_are_no_numbers(client):
    """A masked array plays what is behind its mask, and a time span is an integer in disguise."""
    calls = array_arguments(client)
    hidden = np.ma.masked_array([1, 2, 3], [False, True, False])
    for wrong in (hidden, hidden.astype(np.int32), np.array([1, 2, 3], "m8[ns]"), np.array([1, 2, 3], "M8[s]")):
        for name, (call, field) in calls.items():
            with pytest.raises(tetrion.InvalidArgumentError) as caught:
                call(wrong)
            assert str(caught.value).startswith(field), name
    # Nothing was played.
    env = tetrion.PlacementEnv(address=client)
    env.reset(seed=1)
    for wrong in (np.ma.masked, np.timedelta64(1), np.datetime64(1, "s")):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^action is "):
            env.step(wrong)
    assert env.step(0)[-1]["steps"] == 1


def test_actions_are_integers_not_floats(client):
    calls = array_arguments(client)
    for name in ("session", "session, some", "stream", "stream, ahead", "envs", "envs, ahead", "rows", "env", "placements"):
        call, field = calls[name]
        with pytest.raises(tetrion.InvalidArgumentError, match=rf"^{field}.* is .*[12]\.0?.*, expected an integer"):
            call(np.array([1.0, 1.0, 2.0])[:: -1 if name == "env" else 1])
    env = tetrion.PlacementEnv(address=client)
    env.reset(seed=1)
    for wrong in (1.0, np.float32(1), np.array([1.0])):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^action is .*1\.0?.*, expected an integer from 0 to 39"):
            env.step(wrong)


def test_a_view_that_repeats_an_element_is_not_written_out(client):
    """Of 2**31 elements, the conversion would take 8 to 32 GiB."""
    huge = np.broadcast_to(np.int64(0), 2**31)
    for name, (call, field) in array_arguments(client).items():
        if name in ("env", "seed", "num_envs", "ttl"):
            continue
        with pytest.raises(tetrion.TetrionError) as caught:
            call(huge)
        assert str(caught.value).startswith(field.partition("[")[0]), name
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^actions has 2147483648 elements, expected at most 16777216"):
        client.create_session(3).step(huge)


def test_arrays_of_strings_are_taken_like_lists(client):
    names = np.array(["board", "current"])
    session = client.create_session(2, observations=names, infos=np.array(["lines"]), features=np.array(["holes"]), seed=1)
    assert list(session.reset().observations) == ["board", "current"]
    for texts in (np.array(["0@3", "0@4"]), np.array(["0@3", "0@4"], object)):
        assert session.reset(seeds=[1, 2]) is not None
        assert session.step(texts).actions.tolist() == [3, 4]
    session.reset(piece_sequences=np.array(["OI", "IO"]))
    assert client.evaluate(np.array(["bcts", "dt-10"]), seeds=[1], max_pieces=3).started.num_policies == 2
    assert len(client.evaluate("bcts", piece_sequences=np.array(["OO", "II"]))) == 2
    rows = np.array(["##.######.", "##.######."])
    listed = client.enumerate_placements(tetrion.Drawing(rows, "I"), features=np.array(["holes"]))
    assert listed.feature_names == ("holes",)
    envs = tetrion.PlacementVectorEnv(2, address=client, observations=names)
    envs.reset(options={"piece_sequences": np.array(["OI", "IO"])})


def test_half_a_character_is_no_string(client):
    """Half of a surrogate pair, as in names of files that are not UTF-8."""
    half = "\ud800"
    session = client.create_session()
    session.reset()
    for name, call in {
        "rules": lambda: client.create_session(rules=half),
        "rules.piece_set": lambda: client.create_session(rules={"piece_set": half}),
        "features": lambda: client.create_session(features=half),
        "piece_sequences": lambda: client.create_session(piece_sequences=[half]),
        "policies": lambda: client.evaluate(half),
        "rules_version": lambda: client.evaluate("bcts", rules_version=half),
        "formula": lambda: tetrion.Policy(formula=half),
        "label": lambda: tetrion.Policy("bcts", label=half),
        "name": lambda: client.get_policy(half),
        "split": lambda: client.task(half, 0),
        "session": lambda: client.watch(half),
        "actions": lambda: session.step([half]),
        "positions[0].rows": lambda: client.enumerate_placements(tetrion.Drawing([half], "I")),
        "positions[0].piece": lambda: client.enumerate_placements(tetrion.Drawing([], half)),
        "address": lambda: tetrion.Client(f"{half}:1"),
        "token": lambda: tetrion.Client("127.0.0.1:1", token=half),
        "args": lambda: tetrion.Server(args=[half]),
        "style": lambda: session.render(style=half),
    }.items():
        with pytest.raises(tetrion.InvalidArgumentError, match=f"^{re.escape(name)}") as caught:
            call()
        str(caught.value).encode()
