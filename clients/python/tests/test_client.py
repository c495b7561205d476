"""The raw client: placements, evaluation, snapshots, streams."""

import pickle
import sys
import types

import numpy as np
import pytest
from summing import summarize, summarize_estimates

import tetrion
from tetrion._messages.records import record
from tetrion._messages.requests import enum_value, rules_message
from tetrion._pb import messages as pb

RULES = {"width": 10, "height": 6}


@pytest.fixture
def bcts(client):
    return client.get_policy("bcts")


def test_a_call_on_no_environments_has_no_rows_and_changes_nothing(client):
    with client.create_session(3, seed=7) as session:
        session.reset()
        session.step([0, 1, 2])
        before, number = session.save_state(), session.sequence_number
        for calls in (session, session.stream()):
            done = [calls.reset([]), calls.step([], []), calls.restore_state(before[0], np.zeros(0, np.int64))]
            for answer in done:
                assert answer.observations["board"].shape == (0, 20, 10)
                assert answer.action_mask.shape == (0, 40)
                assert answer.infos["lines"].shape == (0,)
            assert done[1].rewards.shape == done[1].terminated.shape == (0,)
            assert calls.save_state([]) == []
            placements = calls.enumerate_placements([])
            assert (placements.row_offsets.tolist(), placements.actions.tolist()) == ([0], [])
        assert session.render([]) == []
        assert session.save_state() == before
        assert session.sequence_number == number + 6
        with client.watch(session, []) as watching:
            assert (watching.env_ids, next(watching).envs) == ((), ())


def test_the_catalog_is_for_the_width_asked_for(client):
    (features,) = [item for item in client.catalog(width=6).feature_sets if item.name == "bertsekas"]
    assert len(features.columns) == 6 + 5 + 2
    assert client.catalog() is client.catalog()
    assert client.server_info() == client.server_info()


def test_greedy_play_on_features_is_the_servers_controller(client, bcts):
    """Adding up the features in the answer makes exactly the choices of the server."""
    seeds = np.arange(8, dtype=np.uint64)
    limit = 300
    expected = client.evaluate("bcts", seeds=seeds, rules=RULES, max_pieces=limit)
    session = client.create_session(
        8, rules=RULES, env_seeds=seeds.tolist(), features="bcts8", autoreset_mode="disabled", max_episode_steps=limit
    )
    with session, session.stream() as stream:
        infos = stream.reset().infos
        lines, pieces = infos["lines"].copy(), infos["pieces"].copy()
        alive = np.arange(8)
        while alive.size:
            placements = stream.enumerate_placements(alive)
            rows = placements.best_rows(placements.scores(bcts.weights))
            stepped = stream.step(placements.actions[rows], alive)
            lines[alive], pieces[alive] = stepped.infos["lines"], stepped.infos["pieces"]
            alive = alive[~(stepped.terminated | stepped.truncated)]
    assert expected.seeds.tolist() == seeds.tolist()
    assert lines.tolist() == expected.lines.tolist()
    assert pieces.tolist() == expected.pieces.tolist()
    assert expected.mean_lines.tolist() == [lines.mean()]
    # Some games are lost before the limit, and some are not, so both ends were compared.
    assert 0 < expected.truncated.sum() < 8


def test_evaluate_weights_and_controllers_on_the_same_seeds(client, bcts):
    weights = np.array([bcts.weights, -np.array(bcts.weights)])
    progress = []
    result = client.evaluate(
        ["bcts", "dellacherie"],
        weights=weights,
        features="bcts8",
        seeds=tetrion.DrawnSeeds(seed=0, count=20),
        rules=RULES,
        max_pieces=100,
        on_progress=progress.append,
    )
    assert result.policy_indices.tolist() == [p for p in range(4) for _ in range(20)]
    assert result.seed_indices.tolist() == list(range(20)) * 4
    lines = result.lines.reshape(4, 20)
    # The matrix' first row is the controller by name, game by game; its opposite clears less.
    assert lines[0].tolist() == lines[2].tolist()
    assert result.mean_lines.tolist() == lines.mean(axis=1).tolist()
    assert lines[1].sum() < lines[0].sum()
    assert progress[-1].games_done == 80
    again = client.evaluate("bcts", seeds=result.seeds[:20], rules=RULES, max_pieces=100)
    assert again.lines.tolist() == lines[0].tolist()


def test_policies_that_search(client, bcts):
    rules = {**RULES, "preview": 1}

    def games(policies=(), rules=RULES, **options):
        return client.evaluate(policies, seeds=tetrion.DrawnSeeds(0, 12), rules=rules, max_pieces=500, **options)

    def lines(rules=RULES, **options):
        return games(rules=rules, weights=bcts.weights, features="bcts8", **options).lines.tolist()

    search = tetrion.Search
    searching = lines(search=search())
    # The same in other words: with the defaults written out, by name, by weights.
    written = search(pieces=1, placements=8.0, lost_piece=-100, discount=np.float64(1), terms="LANDING")
    for same in (search(placements=8), written):
        assert lines(search=same) == searching
    named = tetrion.Policy("bcts", search=search(terms="landing"))
    unnamed = tetrion.Policy(weights=bcts.weights, features="bcts8", search=search())
    policies = games([named, unnamed, "bcts"])
    assert policies.lines.reshape(3, 12)[:2].tolist() == [searching, searching]
    greedy = policies.lines.reshape(3, 12)[2].tolist()
    assert sum(searching) > sum(greedy)
    assert greedy == lines() == lines(search=None) == lines(search=search(lookahead=0))
    # Fields arrive: one placement looked at is the greedy choice, and all of them with all their terms are a lookahead.
    assert lines(search=search(placements=1)) == greedy
    ahead = lines(rules, search=search(lookahead=1))
    assert lines(rules, search=search(placements=128, terms="all")) == ahead
    assert games(tetrion.Policy("bcts", search=search(lookahead=1)), rules).lines.tolist() == ahead != greedy
    assert lines(rules, search=search(pieces=2)) != lines(rules, search=search()) != searching
    # One piece of one sequence is the greedy choice.
    assert lines(search=search(beam=tetrion.Beam(width=1, pieces=1))) == greedy
    beam = search(beam=tetrion.Beam(width=32, samples=7, sample_pieces=1))
    assert sum(lines(search=beam)) > sum(greedy)
    assert games(tetrion.Policy("bcts", search=beam)).lines.tolist() == lines(search=beam)
    for given, said in (
        (search(beam=tetrion.Beam(width=513)), r"policies\[0\].search.beam.width: is 513, expected 1 to 512"),
        (search(beam=tetrion.Beam(attack=1e4)), r"policies\[0\].search.beam.attack: is 10000, expected -1000 to 1000"),
        (search(pieces=2), r"policies\[0\].search.expectation.pieces: is 2, expected at most 1"),
        (search(placements=129), r"policies\[0\].search.expectation.placements: is 129, expected 1 to 128"),
        (search(lost_piece=1), r"policies\[0\].search.expectation.lost_piece: is 1, expected -1000000 to 0"),
        (search(discount=1.5), r"policies\[0\].search.expectation.discount: is 1.5, expected 0 to 1"),
    ):
        with pytest.raises(tetrion.InvalidRequestError, match=said):
            lines(search=given)


def test_what_was_played_has_every_default(client, bcts):
    policies = [
        tetrion.Policy("bcts", label="the first"),
        tetrion.Policy("monte_carlo", playouts=2),
        tetrion.Policy(weights=bcts.weights, features="bcts8", search=tetrion.Search(placements=3)),
        tetrion.Policy(formula="-holes^2", terminal_value="score", search=tetrion.Search(beam=tetrion.Beam(t_kept=0.5))),
    ]
    started = client.evaluate(policies, seeds=[1], rules=RULES, max_pieces=2).started
    assert (started.num_policies, started.num_games, started.max_pieces, started.baseline) == (4, 4, 2, 0)
    assert (started.rules["width"], started.rules["height"], started.rules["randomizer"]) == (10, 6, "uniform")
    assert [entry.num_rows for entry in started.policies] == [1, 1, 1, 1]
    named, playing_out, weighted, scored = (entry.policy for entry in started.policies)
    assert (named.name, named.label, named.terminal_value) == ("bcts", "the first", "avoid")
    assert (playing_out.name, playing_out.playouts) == ("monte_carlo", 2)
    assert (weighted.name, weighted.weights, weighted.features) == ("", (), "bcts8")
    assert weighted.search == tetrion.Search(
        pieces=1, placements=3, lost_piece=-100.0, discount=1.0, terms="landing", caution=0.0
    )
    beam = tetrion.Beam(width=16, pieces=8, sample_pieces=4, t_kept=0.5)
    assert scored == tetrion.Policy(formula="", search=tetrion.Search(beam=beam), terminal_value="score")


def test_formulas(client, bcts):
    (names,) = (known.columns for known in client.catalog(10).feature_sets if known.name == "bcts8")
    linear = " + ".join(f"{weight!r} * {name}" for weight, name in zip(bcts.weights, names, strict=True))
    formulas = [linear, "-holes - max(0, max_height - 4)^2", "if next == I then -holes else -max_height"]
    policies = ["bcts", *(tetrion.Policy(formula=formula) for formula in formulas)]
    result = client.evaluate(policies, seeds=[1, 2], rules={**RULES, "preview": 1}, max_pieces=200)
    lines = result.lines.reshape(4, 2).tolist()
    assert lines[0] == lines[1] != lines[2] != lines[3]
    with pytest.raises(tetrion.InvalidRequestError) as caught:
        client.evaluate(tetrion.Policy(formula="1 - hole"), seeds=[1])
    assert 'policies[0].formula.text: nothing is called "hole", did you mean "holes"?' in str(caught.value)
    assert "\n  1 - hole\n      ^^^^" in str(caught.value)


def test_evaluations_travel_between_processes(client):
    result = client.evaluate("bcts", seeds=[1, 2], max_pieces=10)
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again != client.evaluate("bcts", seeds=[1, 3], max_pieces=10)
    assert (again.started, again.summary) == (result.started, result.summary)


def test_evaluate_takes_pieces_instead_of_seeds(client):
    result = client.evaluate("bcts", piece_sequences=["OOOOO", "II"])
    assert result.pieces.tolist() == [5, 2]
    assert result.lines.tolist() == [2, 0]
    assert result.truncated.all()


def test_games_come_as_they_finish(client):
    run = client.start_evaluation("bcts", seeds=tetrion.DrawnSeeds(1, 50), rules=RULES, max_pieces=200)
    assert run.num_games is None
    games = next(iter(run))
    assert 0 < len(games) <= 50 == run.num_games
    rest = sum(len(games) for games in run)
    result = run.result()
    assert len(games) + rest == run.games_done == len(result) == 50
    np.testing.assert_array_equal(
        result.lines, client.evaluate("bcts", seeds=result.seeds, rules=RULES, max_pieces=200).lines
    )
    left = client.start_evaluation("bcts", seeds=tetrion.DrawnSeeds(1, 50), rules=RULES, max_pieces=200)
    left.close()
    with pytest.raises(RuntimeError, match="closed before its end"):
        left.result()


@pytest.mark.parametrize("pairs", [None, [[0, 3], [0, 1], [2, 3], [3, 0], [2, 1], [3, 1]]])
def test_our_sums_are_the_servers(client, pairs):
    weights = np.random.default_rng(1).normal(size=(3, 8))
    for baseline in (None, 2):
        result = client.evaluate(
            "dellacherie",
            weights=weights,
            features="bcts8",
            seeds=tetrion.DrawnSeeds(5, 7),
            rules={**RULES, "scoring": {"piece": 0.1, "lines": [1.1, 2.3, 4.7, 8.9]}},
            episodes_per_seed=3,
            max_pieces=300,
            pairs=pairs,
            baseline=baseline,
        )
        ours = summarize(result, result.started.baseline)
        assert record(read(ours)) == result.summary
        assert ours.paired_differences


def read(summary):
    """A summary as the package reads it."""
    return pb.EvaluationSummary.decode(summary.SerializeToString())


def test_how_long_games_last_is_estimated(client):
    games = {"seeds": tetrion.DrawnSeeds(5, 8), "rules": RULES}
    result = client.estimate(["bcts", "dellacherie"], trials=64, **games)
    assert repr(result).startswith("<tetrion.Estimation: 16 estimates of 2 policies, mean lines ")
    assert result.started.loss_estimation.trials == 64
    assert record(read(summarize_estimates(result))) == result.summary
    assert result.policy_indices.tolist() == [0] * 8 + [1] * 8
    assert not result.summary.policies
    assert not result.summary.paired_differences
    assert 0 < result.loss_rates.min() <= result.loss_rates.max() < 1
    assert (result.steps_per_piece == 1).all()
    assert pickle.loads(pickle.dumps(result)) == result
    played = client.evaluate(["bcts", "dellacherie"], **{**games, "seeds": tetrion.DrawnSeeds(5, 400)})
    for estimated, whole in zip(result.summary.estimates, played.summary.policies, strict=True):
        assert 0.5 < estimated.lines.mean / whole.lines.mean < 2
        assert estimated.lines.ci95_low < estimated.lines.mean < estimated.lines.ci95_high
        assert estimated.num_estimates == 8
    alone = client.estimate(["bcts", "dellacherie"], trials=64, include_results=False, **games)
    assert (len(alone), alone.summary) == (0, result.summary)
    with pytest.raises(tetrion.InvalidRequestError, match=r"loss_estimation\.trials"):
        client.estimate("bcts", trials=3, **games)


def test_progress_is_drawn_with_tqdm_and_without(client, capsys, monkeypatch):
    for module in (types.SimpleNamespace(tqdm=FakeBar), None):
        monkeypatch.setitem(sys.modules, "tqdm", module)
        client.evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 30), rules=RULES, max_pieces=100, progress=True)
    assert capsys.readouterr().err.splitlines()[0] == "bar of 30 closed at 30"
    client.evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 30), rules=RULES, max_pieces=100, progress=True)
    assert capsys.readouterr().err.startswith("30 of 30 games, 0.0 M pieces")


class FakeBar:
    """The part of tqdm that the client uses."""

    def __init__(self, total, unit):
        self.total, self.n = total, 0

    def set_postfix_str(self, text, refresh):
        assert text.endswith("pieces")

    def update(self, step):
        self.n += step

    def close(self):
        print(f"bar of {self.total} closed at {self.n}", file=sys.stderr)


def test_evaluation_can_be_left_early(client):
    # Minutes of play, however fast the machine: what comes first cannot be everything.
    run = client.start_evaluation("bcts", seeds=tetrion.DrawnSeeds(1, 10_000), max_pieces=20_000)
    assert len(next(iter(run))) < 10_000
    run.close()
    assert client.evaluate("bcts", seeds=[1], max_pieces=10).summary.policies[0].num_games == 1


def test_enumerate_drawings(client):
    drawing = tetrion.Drawing(["##.######."], "I")
    placements = client.enumerate_placements(
        drawing, features=["holes", "lines_cleared"], afterstates=True, position_features=True
    )
    assert placements.row_offsets.tolist() == [0, 17]
    assert placements.feature_names == ("holes", "lines_cleared")
    # Upright in column 2: no hole. Lying over columns 0 to 3: the empty cell of column 2 is covered.
    assert placements.actions[[2, 10]].tolist() == [2, 10]
    assert placements.features[[2, 10], 0].tolist() == [0.0, 1.0]
    assert placements.afterstates[2, :5].tolist() == [0b0111111111, 0b100, 0b100, 0b100, 0]
    assert placements.position_features.tolist() == [[0.0, 0.0]]
    assert placements.terminated.sum() == placements.lines.sum() == 0


def test_cells_anchors_and_playfields_before_rows_are_cleared(client):
    """What lies at rest is the difference between the playfields, and full rows go afterwards."""
    wanted = {"cells": True, "anchors": True, "preclear_boards": True, "afterstates": True}
    for rules, drawing, num_cells in (
        ({"orientation_table": "lab", "width": 6, "height": 8}, tetrion.Drawing(["####..", "#####."], "J"), 4),
        ({"width": 20}, tetrion.Drawing(["#" * 19 + "."], "I"), 4),
        ({"piece_set": "melax", "width": 6}, tetrion.Drawing(["####.."], "D"), 4),
    ):
        found = client.enumerate_placements(drawing, rules=rules, **wanted)
        width, height = found.preclear_boards.shape[1] and rules["width"], rules.get("height", 20)
        start = np.zeros((height, width), np.int64)
        for row, line in enumerate(reversed(drawing.rows)):
            start[row] = [cell == "#" for cell in line]
        assert found.cells.shape == (len(found.actions), num_cells, 2)
        cleared = 0
        for row in range(len(found.actions)):
            before = start.copy()
            for cell in found.cells[row]:
                if cell[0] >= 0:
                    assert before[tuple(cell)] == 0
                    before[tuple(cell)] = 1
            bits = 1 << np.arange(width)
            assert found.preclear_boards[row].tolist() == (before @ bits).tolist()
            kept = before[~before.all(axis=1)]
            cleared += height - len(kept)
            assert found.lines[row] == height - len(kept)
            assert found.afterstates[row].tolist() == [*(kept @ bits).tolist(), *[0] * int(found.lines[row])]
            if "orientation_table" in rules:
                assert tuple(found.anchors[row]) in set(map(tuple, found.cells[row]))
        assert cleared > 0
    session = client.create_session(2, seed=1)
    with session, session.stream() as stream:
        session.reset()
        asked = session.enumerate_placements([1], cells=True)
        stream.send_placements([1], cells=True)
        assert stream.receive_placements().cells.tobytes() == asked.cells.tobytes()
        assert (asked.anchors, asked.preclear_boards) == (None, None)


def test_the_type_of_packed_rows_follows_the_width_of_the_playfield(client):
    """Whatever the type of the caller's array: lists and differences of arrays are int64."""
    for width, dtype in ((10, np.uint16), (20, np.uint32)):
        rules = {"width": width}
        boards = np.zeros((1, 20), np.int64)
        boards[0, 0] = 2 ** (width - 1) - 1
        listed = [
            client.enumerate_placements(tetrion.Packed(given, [0]), rules=rules, afterstates=True)
            for given in (boards, boards.tolist(), boards.astype(np.uint32), boards.astype(dtype))
        ]
        assert {found.afterstates.dtype for found in listed} == {np.dtype(dtype)}
        assert len({found.afterstates.tobytes() for found in listed}) == 1
        with client.create_session(1, rules=rules, observations=["board_bits"]) as session:
            shown = session.restore_state(tetrion.Packed(boards, [0])).observations["board_bits"]
            assert shown.tolist() == boards.tolist()
            assert session.restore_state(tetrion.Packed(shown, [0])).observations["board_bits"].tolist() == boards.tolist()


def test_keys_of_placements(client):
    drawing = tetrion.Drawing([], "O", held="I")
    every = client.enumerate_placements(drawing, rules="guideline", keys=True)
    assert every.actions.size == 9 + 17
    assert every.key_names(0) == ("far_left", "hard_drop")
    assert every.key_names(4) == ("hard_drop",)
    assert every.key_names(9) == ("hold", "far_left", "hard_drop")
    assert [every.key_names(row)[0] == "hold" for row in range(26)] == every.holds.tolist()
    assert every.key_offsets[-1] == every.keys.size
    assert every.keys.max() < len(tetrion.KEYS)
    with pytest.raises(tetrion.InvalidArgumentError, match="row is 26, expected an integer from 0 to 25"):
        every.key_names(26)

    one = client.enumerate_placements(drawing, rules="guideline", keys=True, actions=every.actions[[9]])
    assert (one.row_offsets.tolist(), one.actions.tolist()) == ([0, 1], [every.actions[9]])
    assert one.key_names(0) == every.key_names(9)
    keyless = client.enumerate_placements(drawing, rules="guideline", actions=every.actions[[9]])
    with pytest.raises(tetrion.InvalidArgumentError, match="keys were not asked for"):
        keyless.key_names(0)
    with pytest.raises(tetrion.InvalidRequestError, match="include_keys"):
        client.enumerate_placements(tetrion.Drawing([], "O"), keys=True)

    # The piece falls by a row with every key, and a tower of 18 rows leaves it two.
    tower = tetrion.Drawing(["....##...."] * 18, "T")
    lab = client.enumerate_placements(tower, rules="lab", keys=True)
    keys = [lab.key_names(row) for row in range(lab.actions.size)]
    assert keys[4] == ("hard_drop",)
    assert keys[0] == ()
    with pytest.raises(tetrion.IllegalActionError, match=r"actions\[0\] is -1"):
        client.enumerate_placements(drawing, rules="guideline", actions=[-1])


def test_values_of_placements(client):
    with client.create_session(2, rules={"width": 4, "height": 5}, infos=["regret"], seed=3) as session:
        session.reset()
        for _ in range(2):
            listed = session.enumerate_placements(optimal_values=True)
            assert listed.optimal_values.dtype == np.float64
            firsts = listed.row_offsets[:-1]
            best = np.maximum.reduceat(listed.optimal_values, firsts)
            regrets = session.step(listed.actions[firsts]).infos["regret"]
            assert regrets.tolist() == (best - listed.optimal_values[firsts]).tolist()
    assert "optimal_values" in repr(listed)
    assert client.enumerate_placements(tetrion.Drawing([], "O")).optimal_values is None
    with pytest.raises(tetrion.InvalidRequestError, match="include_optimal_values"):
        client.enumerate_placements(tetrion.Drawing([], "O"), optimal_values=True)


def test_values_of_a_policy(client):
    names = ["holes", "max_height", "lines_cleared"]
    linear = tetrion.Policy(weights=[-4.0, -1.0, 2.0], features=names)
    with client.create_session(3, rules={"width": 6, "height": 8}, seed=3) as session:
        session.reset()
        for _ in range(5):
            listed = session.enumerate_placements(features=names, policy=linear)
            assert listed.policy_values.tolist() == listed.scores([-4.0, -1.0, 2.0]).tolist()
            assert listed.policy_choices.tolist() == listed.best_rows(listed.policy_values).tolist()
            text = session.enumerate_placements(policy=tetrion.Policy(formula="-4*holes - max_height + 2*lines_cleared"))
            assert text.policy_values.tolist() == listed.policy_values.tolist()
            named = session.enumerate_placements([1], policy="dellacherie")
            assert named.policy_choices.shape == (1,)
            assert named.policy_values.shape == named.actions.shape
            assert listed.policy_actions.tolist() == listed.actions[listed.policy_choices].tolist()
            session.step(listed.policy_actions)
    assert "policy_values" in repr(listed)
    with pytest.raises(tetrion.InvalidArgumentError, match="policy is 3, expected the name of a policy, or a Policy"):
        client.enumerate_placements(tetrion.Drawing([], "O"), policy=3)
    with pytest.raises(tetrion.InvalidRequestError, match=r"policy\.name: random scores no placements"):
        client.enumerate_placements(tetrion.Drawing([], "O"), policy="random")


@pytest.mark.parametrize("num_envs", [1, 3])
def test_the_actions_of_a_policy_go_on_after_the_end_of_games(client, num_envs):
    """With explicit pieces, the games end one after the other and all together."""
    sequences = ["O" * (2 + env_id) for env_id in range(num_envs)]
    with client.create_session(num_envs, piece_sequences=sequences) as session, session.stream() as stream:
        stream.reset()
        ends, empty = 0, 0
        for _ in range(12):
            listed = stream.enumerate_placements(policy=tetrion.Policy(formula="-holes - max_height^2"))
            assert listed.policy_actions.tolist() == listed.actions_of(listed.best_rows(listed.policy_values)).tolist()
            has_ended = np.diff(listed.row_offsets) == 0
            assert (listed.policy_choices[has_ended] == -1).all()
            assert (listed.policy_actions[has_ended] == 0).all()
            stepped = stream.step(listed.policy_actions)
            assert not (stepped.rewards[has_ended]).any()
            ends, empty = ends + stepped.truncated.sum(), empty + has_ended.all()
        assert ends >= 3
        assert empty or num_envs > 1


def test_actions_of_rows_that_are_none_of_a_position(client):
    listed = client.enumerate_placements([tetrion.Drawing([], "I"), tetrion.Drawing([], "O")])
    assert listed.actions_of([16, 17]).tolist() == [listed.actions[16], listed.actions[17]]
    assert listed.actions_of([0, 17]).dtype == np.int32
    for rows, said in (
        ([0], r"rows is \[0\], expected one row for each of 2 positions"),
        ([17, 17], r"rows\[0\] is 17, expected a row from 0 to 16"),
        ([0, -1], r"rows\[1\] is -1, expected a row from 17 to 25"),
        ([0.5, 17], r"rows\[0\] is 0.5, expected an integer"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            listed.actions_of(rows)
    with pytest.raises(tetrion.InvalidArgumentError, match="policy was not given"):
        _ = listed.policy_actions


def test_keys_of_the_actions_of_a_session(client):
    with client.create_session(3, rules="guideline", seed=2) as session, session.stream() as stream:
        stream.reset()
        for _ in range(5):
            every = stream.enumerate_placements(keys=True)
            rows = every.row_offsets[1:].astype(np.int64) - 1
            stream.send_placements(actions=every.actions[rows], keys=True)
            chosen = stream.receive_placements()
            assert chosen.actions.tolist() == every.actions[rows].tolist()
            for at, row in enumerate(rows):
                assert chosen.key_names(at) == every.key_names(row)
                assert chosen.key_names(at)[-1] == "hard_drop"
            stream.step(chosen.actions)


def test_enumerate_packed_is_enumerate_of_the_session(client):
    rules = {"width": 8, "height": 12}
    with client.create_session(4, rules=rules, seed=1, observations=["board_bits", "current"]) as session:
        seen = session.reset()
        rng = np.random.default_rng(1)
        for _ in range(4):
            seen = session.step([rng.choice(np.flatnonzero(row)) for row in seen.action_mask])
            assert not seen.terminated.any()
        ours = session.enumerate_placements(features="bcts8", afterstates=True)
        packed = tetrion.Packed(seen.observations["board_bits"], seen.observations["current"])
        theirs = client.enumerate_placements(packed, rules=rules, features="bcts8", afterstates=True)
        for name in ("row_offsets", "actions", "rewards", "lines", "terminated", "features", "afterstates"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert ours.sequence_number == session.sequence_number
        ours.features[:] = 1
        # Only a large column keeps the memory of all.
        assert (ours.features.flags.owndata, ours.lines.flags.owndata) == (False, True)


def test_what_a_terminal_shows_fits_a_line(client):
    evaluation = client.evaluate(["bcts", *["random"] * 7], seeds=range(300), max_pieces=5)
    placements = client.enumerate_placements([tetrion.Drawing([], "I")] * 2, features=["holes"], keys=False)
    with client.create_session(64) as session, tetrion.Client(client.address, timeout=9) as other:
        shown = [repr(thing) for thing in (evaluation, evaluation.rows([1]), placements, session, other)]
    assert shown[0].startswith("<tetrion.Evaluation: 2400 games of 8 policies, mean lines ")
    assert shown[0].endswith(" and 3 more>")
    assert shown[1:3] == ["<tetrion.Games: 1 games>", "<tetrion.Placements: 34 of 2 positions with features>"]
    place = client.address or "this process"
    assert shown[3] == f"<tetrion.Session {session.name}: 64 environments on {place}>"
    assert shown[4] == f"<tetrion.Client of {place}>"


def test_best_rows_takes_the_first_of_equals_and_skips_the_empty(client):
    session = client.create_session(3, piece_sequences=["O", "OO", "OO"], autoreset_mode="disabled")
    with session:
        session.reset()
        session.step([0, 0, 8])
        placements = session.enumerate_placements(features=["holes"])
        assert np.diff(placements.row_offsets).tolist() == [0, 9, 9]
        rows = placements.best_rows(placements.scores([-1.0]))
        # Only half covering the O in columns 0 and 1, or in 8 and 9, makes holes: over it is as good as beside it.
        assert rows.tolist() == [-1, 0, 9]
        assert placements.actions[rows[1:]].tolist() == [0, 0]
        with pytest.raises(ValueError, match="are 2 weights, expected 1 features"):
            placements.scores([1.0, 2.0])


def test_snapshots_go_on_as_the_original(client):
    with (
        client.create_session(2, seed=9, rules={"preview": 2}) as session,
        client.create_session(4, rules={"preview": 2}) as fork,
    ):
        seen = session.reset()
        for _ in range(4):
            seen = session.step(seen.action_mask.argmax(axis=1))
        state = session.save_state([1])
        restored = fork.restore_state(state)
        np.testing.assert_array_equal(restored.observations["board"], seen.observations["board"][[1, 1, 1, 1]])
        action = int(seen.action_mask[1].argmax())
        stepped, original = fork.step([action] * 4), session.step([action], [1])
        for name, array in original.observations.items():
            np.testing.assert_array_equal(stepped.observations[name], array.repeat(4, axis=0))
        assert fork.save_state()[3] == session.save_state([1])[0]
        # Another future: the visible pieces stay, later ones are new.
        reseeded = fork.restore_state(state, reseed=1)
        np.testing.assert_array_equal(reseeded.observations["queue"], restored.observations["queue"])
        assert len(set(fork.save_state())) == 4


def test_forks_and_clones(client):
    with client.create_session(3, seed=9, rules={"preview": 1}, features="bcts8") as session:
        seen = session.reset()
        for _ in range(3):
            seen = session.step(seen.action_mask.argmax(axis=1))
        with session.clone() as twin, session.clone(64) as futures:
            assert twin.save_state() == session.save_state()
            assert twin.name != session.name
            assert twin.feature_names == session.feature_names
            # One state, many futures: all show the same next piece, and different ones after it.
            futures.restore_state(session.save_state([1]))
            forked = futures.fork(0, reseed=7)
            assert len(set(forked.observations["queue"][:, 0])) == 1
            stepped = futures.step(forked.action_mask.argmax(axis=1))
            assert len(set(stepped.observations["queue"][:, 0])) > 1
        # In its own session, onto some environments.
        session.fork(2, [0, 1])
        assert len(set(session.save_state())) == 1


def test_arrays_may_be_changed(client):
    for copy in (True, False):
        with client.create_session(4, seed=1, features="bcts8", copy=copy, autoreset_mode="same_step") as session:
            observed, stepped = session.reset(), session.step([0] * 4)
            some, listed = session.step([0], [1]), session.enumerate_placements(afterstates=True)
            arrays = [stepped.rewards, stepped.terminated, stepped.truncated, some.rewards, listed.features]
            arrays += [listed.afterstates, listed.row_offsets, listed.actions]
            for answer in (observed, stepped, some):
                arrays += [answer.action_mask, *answer.observations.values(), *answer.infos.values()]
            for array in arrays:
                before = array.copy()
                array.fill(1)
                array[...] = before
            assert session.step([0] * 4).rewards.shape == (4,)


def test_what_a_caller_keeps_of_an_answer_keeps_little_else(client):
    """Rewards of a thousand steps, beside the playfields that came with them."""
    with client.create_session(64, seed=1, autoreset_mode="same_step") as session:
        session.reset()
        kept = [session.step(np.zeros(64, np.int64)) for _ in range(3)]
        for stepped in kept:
            arrays = {"rewards": stepped.rewards, "terminated": stepped.terminated, "truncated": stepped.truncated}
            arrays |= {**stepped.observations, **stepped.infos, "mask": stepped.action_mask}
            for name, array in arrays.items():
                memory = array if array.base is None else array.base
                assert memory.nbytes <= 4.1 * array.nbytes, name
            assert stepped.rewards.flags.owndata


def test_tensors_become_arrays_when_read_and_pickle_as_dicts(client):
    with client.create_session(3, seed=1, observations=("board", "current")) as session:
        session.reset()
        stepped = session.step([0, 0, 0])
        assert list(stepped.observations) == ["board", "current"]
        assert list(stepped.infos) == [spec.name for spec in session._message.info_specs]
        assert stepped.observations["board"] is stepped.observations["board"]
        assert "queue" not in stepped.observations
        with pytest.raises(KeyError, match="queue"):
            stepped.observations["queue"]
        later = pickle.loads(pickle.dumps(stepped))
        assert type(later.observations) is dict
        for seen, kept in ((stepped.observations, later.observations), (stepped.infos, later.infos)):
            assert list(seen) == list(kept)
            for name, array in kept.items():
                np.testing.assert_array_equal(array, seen[name])


def test_a_stream_answers_in_order(client):
    with client.create_session(2, seed=4, features="bcts8") as session, session.stream() as stream:
        stream.reset()
        stream.send_step([0, 1])
        stream.send_placements()
        assert stream.in_flight == 2
        with pytest.raises(RuntimeError, match="the next answer is that to step"):
            stream.receive_placements()
        stepped, placements = stream.receive_step(), stream.receive_placements()
        assert stepped.infos["pieces"].tolist() == [1, 1]
        assert placements.sequence_number == session.sequence_number == 2
        np.testing.assert_array_equal(placements.features, session.enumerate_placements().features)


def test_restore_from_a_drawing(client):
    with client.create_session(rules={"width": 4, "height": 4}, seed=1) as session:
        observed = session.restore_state(tetrion.Drawing(["##..", "##.."], "O"))
        assert observed.observations["board"][0].tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0] * 4, [0] * 4]
        assert session.render() == ["....\n....\n##..\n##.."]
        assert session.step([2]).rewards.tolist() == [2.0]


def test_a_stream_sends_ahead(client):
    """Two halves of a session in turn: the same games as the whole session at once."""
    with client.create_session(6, seed=4) as whole, client.create_session(6, seed=4) as halves:
        seen = whole.reset()
        halves.reset()
        parts = [np.arange(3), np.arange(3, 6)]
        with halves.stream() as stream:
            for _ in range(20):
                actions = seen.action_mask.argmax(axis=1)
                for part in parts:
                    stream.send_step(actions[part], part)
                with pytest.raises(RuntimeError, match="receive"):
                    stream.reset()
                answers = [stream.receive_step() for _ in parts]
                seen = whole.step(actions)
                for part, answer in zip(parts, answers, strict=True):
                    np.testing.assert_array_equal(answer.observations["board"], seen.observations["board"][part])
            with pytest.raises(RuntimeError, match="no request waits"):
                stream.receive_step()
        assert halves.sequence_number == 41 == halves.refresh().sequence_number


def test_names_of_enum_values():
    assert enum_value(pb.Randomizer, "bag7") == pb.RANDOMIZER_BAG7
    with pytest.raises(ValueError, match="randomizer is 'unspecified', expected one of uniform, bag7, balanced, nes"):
        enum_value(pb.Randomizer, "unspecified")
    assert rules_message({"preset": "lab", "scoring": {"piece": 2.0}}).scoring.piece == 2.0
