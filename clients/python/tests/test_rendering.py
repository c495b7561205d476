"""Pictures: which tetromino each cell came from, and the pixels of it."""

import json
import re

import gymnasium
import numpy as np
import pytest
from recorded import check_file, program, random_actions, read_png

import tetrion
from tetrion._messages.tensors import to_numpy
from tetrion._pb import messages as pb

PRESETS = ["simplified", "survey", "genetic", "leiden"]


def drawn_cells(session, env_id=0):
    """The cells of a drawing in letters: the number of a tetromino, -1 for none, 7 for an unknown one."""
    (drawing,) = session.render([env_id], style="letters")
    rows = [line[1 : line.index("|", 1)] for line in drawing.splitlines() if line.startswith("|")]
    numbers = {".": -1, ":": -1, "#": 7, **{letter: number for number, letter in enumerate("IOTZSJL")}}
    return np.array([[numbers[cell.upper()] for cell in row] for row in reversed(rows)])


class Twin:
    """Which tetromino each cell came from, by the cells that the server lists for each placement beforehand."""

    def __init__(self, session, env_id):
        self.session, self.env_id = session, env_id
        height, width = session._message.config.rules.height, session._message.config.rules.width
        self.cells = np.full((height, width), -1)

    def place(self, piece, action):
        source = pb.SessionEnvs(session=self.session.name, envs=pb.EnvIds(ids=[self.env_id]))
        request = pb.EnumeratePlacementsRequest(session_envs=source, include_cells=True)
        listed = self.session._connection.call("EnumeratePlacements", request)
        ends = to_numpy(listed.terminated)
        row = np.flatnonzero(to_numpy(listed.actions) == action)[0]
        lines = to_numpy(listed.lines)[row]
        for down, across in to_numpy(listed.cells)[row]:
            if down < len(self.cells):
                self.cells[down, across] = piece
        full = (self.cells >= 0).all(axis=1)
        # A piece that overflows clears nothing.
        if lines:
            kept = self.cells[~full]
            self.cells = np.vstack([kept, np.full((full.sum(), self.cells.shape[1]), -1)])
        return ends[row]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_every_cell_has_its_tetromino(client, preset, mode):
    """Narrow playfields clear lines often."""
    seed = 3
    print("seed", seed)
    rng = np.random.default_rng(seed)
    rules = {"preset": preset, "width": 4, "height": 9}
    envs = tetrion.PlacementVectorEnv(2, address=client, rules=rules, autoreset_mode=mode, render_mode="rgb_array")
    observations, infos = envs.reset(seed=seed)
    twins = [Twin(envs.session, env_id) for env_id in range(2)]
    ended, cleared = [False, False], 0
    for step in range(150):
        actions = random_actions(rng, infos["action_mask"])
        for env_id, twin in enumerate(twins):
            if ended[env_id] and mode == "NextStep":
                twins[env_id] = Twin(envs.session, env_id)
            else:
                twin.place(observations["current"][env_id], actions[env_id])
        observations, _, terminated, _, infos = envs.step(actions)
        ended = terminated.tolist()
        cleared += infos["lines"].max()
        if mode == "SameStep":
            twins = [Twin(envs.session, env_id) if ended[env_id] else twin for env_id, twin in enumerate(twins)]
        # Most pictures are skipped, as by a trigger.
        if step % 7 in (0, 1, 5):
            for env_id, twin in enumerate(twins):
                cells = drawn_cells(envs.session, env_id)
                np.testing.assert_array_equal(cells, twin.cells, f"step {step}")
                np.testing.assert_array_equal(cells >= 0, observations["board"][env_id] == 1)
                (drawing,) = envs.session.render([env_id], style="letters")
                assert f"lines  {infos['lines'][env_id]}" in drawing
                assert f"pieces {infos['pieces'][env_id]}" in drawing
                has_piece = not (ended[env_id] and mode == "NextStep")
                piece = "IOTZSJL"[observations["current"][env_id]]
                assert (f"piece  {piece}" in drawing) == has_piece
    assert cleared > 10
    envs.close()


def test_after_a_snapshot_without_colours_cells_are_grey_until_they_go(client):
    rules = {"width": 4, "height": 6}
    env = tetrion.PlacementEnv(address=client, rules=rules, render_mode="rgb_array")
    for mode in (None, "rgb_array"):
        other = tetrion.PlacementEnv(address=client, rules=rules, render_mode=mode)
        other.reset(options={"piece_sequence": "OOOO"})
        other.step(0)
        env.restore_state(other.save_state())
        given = 7 if mode is None else 1
        assert drawn_cells(env.session)[:2].tolist() == [[given, given, -1, -1]] * 2
    np.testing.assert_array_equal(env.render(), other.render())
    env.restore_state(tetrion.Drawing(["##..", "##.."], "O"))
    env.step(1)
    assert drawn_cells(env.session)[:4].tolist() == [[7, 7, -1, -1]] * 2 + [[-1, 1, 1, -1]] * 2


@pytest.mark.parametrize("kind", [tetrion.PlacementEnv, tetrion.KeypressEnv])
def test_snapshots_keep_their_colours(client, kind):
    """As a tree search takes them; it returns to some more than once, and not to the last one only."""
    seed = 4
    print("seed", seed)
    rng = np.random.default_rng(seed)
    env, twin = (kind(address=client, rules={"width": 6, "height": 12}, render_mode="rgb_array") for _ in range(2))
    _, info = env.reset(seed=seed)
    taken = [(env.save_state(), info, [])]
    path = []
    for step in range(40):
        if step % 3 == 2:
            state, info, path = taken[rng.integers(len(taken))]
            path = list(path)
            env.restore_state(state)
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, _, info = env.step(action)
        path.append(action)
        if not terminated:
            taken.append((env.save_state(), info, list(path)))
        else:
            state, info, path = taken[0]
            path = list(path)
            env.restore_state(state)
    twin.reset(seed=seed)
    for action in path:
        twin.step(action)
    np.testing.assert_array_equal(env.render(), twin.render())
    assert "#" not in env.session.render(style="letters")[0]
    # With other pieces from there on, too.
    env.restore_state(taken[-1][0], reseed=1)
    assert "#" not in env.session.render(style="letters")[0]


def test_pictures_are_those_of_the_program(client, tmp_path):
    """To the pixel, at several sizes, in both palettes, for placements and for keys."""
    cases = [("bcts", {"width": 6, "height": 8, "preview": 2}), ("random_keys", {"preset": "lab", "height": 9})]
    cases.append(("random", {"preset": "genetic", "width": 12, "height": 14, "preview": 6}))
    for number, (controller, rules) in enumerate(cases):
        recording = client.evaluate(controller, rules=rules, seeds=[4], max_pieces=20, record="best").recordings[0]
        recording._message.player = ["", "somebody with a name that is long", "me"][number]
        recording.save(tmp_path / "game.json")
        replay = recording.replay()
        sizes = [(8, "usual"), (16, "color-blind"), (27, "usual"), (4, "usual")]
        for step in (0, 1, len(recording) // 2, len(recording) - 1, len(recording)):
            cell, palette = sizes[(step + number) % len(sizes)]
            picture = tmp_path / f"{step}.png"
            options = ["--at", step, "--cell", cell, "--palette", palette, "-o", picture]
            code, printed = program("export", tmp_path / "game.json", *options)
            assert code == 0, printed
            ours = replay.picture(step, render_scale=cell / 16, render_palette=palette)
            np.testing.assert_array_equal(ours, read_png(picture.read_bytes()), f"{controller}, step {step}, cell {cell}")
        np.testing.assert_array_equal(recording.picture(), replay.picture(len(recording)))


@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Keypress-v0"])
def test_the_current_piece_and_the_next_ones_are_shown(client, env_id):
    rules = {"preview": 2}
    env = gymnasium.make(env_id, address=client, rules=rules, render_mode="ansi", render_palette="color-blind")
    env.reset(options={"piece_sequence": "OTIZ"})
    text = env.render()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "piece  O" in plain
    assert "next   TI" in plain
    # 256-colour numbers of the palette: yellow for O.
    assert "38;5;221mO" in text.replace("1;", "")
    assert ("[]" in plain.splitlines()[1]) == (env_id == "tetrion/Keypress-v0")
    env.close()


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"render_mode": "pixels"}, "render_mode is 'pixels'"),
        ({"render_scale": 0.1}, "render_scale is 0.1, expected a number from 0.25 to 4"),
        ({"render_scale": 5}, "render_scale is 5, expected"),
        ({"render_scale": "2"}, "render_scale is '2'"),
        ({"render_palette": "colourblnd"}, "render_palette is 'colourblnd', did you mean 'color-blind'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [tetrion.PlacementEnv, tetrion.KeypressVectorEnv])
def test_wrong_options_are_refused(client, kind, kwargs, problem):
    with pytest.raises(tetrion.InvalidArgumentError, match=re.escape(problem)):
        kind(address=client, **kwargs)


def test_human_draws_without_colours_where_they_are_not_wanted(client, capsys, monkeypatch):
    for no_color in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_color)
        env = tetrion.PlacementVectorEnv(2, address=client, render_mode="human")
        env.metadata["render_fps"] = 0
        env.reset(options={"piece_sequences": ["OO", "II"]})
        env.step(np.array([0, 0]))
        printed = capsys.readouterr().out
        # The first game only, twice.
        assert printed.count("pieces") == 2
        assert ("\x1b[" in printed) == (not no_color)
        assert ("|oo........|" in printed) == bool(no_color)
        env.close()


def test_an_environment_asks_for_a_picture_only_when_it_renders(client, monkeypatch):
    for mode in (None, "rgb_array"):
        env = tetrion.PlacementEnv(address=client, render_mode=mode)
        calls = []
        render = env.session._link.render
        monkeypatch.setattr(
            env.session._link, "render", lambda *args, render=render, calls=calls: calls.append(1) or render(*args)
        )
        env.reset(seed=1)
        for action in range(5):
            env.step(action)
        assert not calls
        assert env.session.config.keep_colors == (mode is not None)
        env.render()
        assert len(calls) == (mode is not None)
        env.close()


def test_many_pictures_come_in_several_answers(client):
    envs = tetrion.PlacementVectorEnv(300, address=client, render_mode="rgb_array")
    envs.reset(seed=1)
    shown = envs.render()
    assert sum(picture.nbytes for picture in shown) > envs.session.config.max_response_bytes
    np.testing.assert_array_equal(np.stack(shown[290:]), envs.session.pictures(range(290, 300)))
    envs.close()


def test_pictures_survive_a_lost_server():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        rules = {"width": 5, "height": 9}
        env = tetrion.PlacementEnv(address=client, rules=rules, snapshot_every=2, render_mode="rgb_array")
        twin = tetrion.PlacementEnv(rules=rules, render_mode="rgb_array")
        for one in (env, twin):
            one.reset(seed=2)
        for step in range(6):
            (fits,) = np.nonzero(env.action_masks())
            action = int(fits[step % 2 * (len(fits) - 1)])
            if step == 4:
                server._process.kill()
                with pytest.warns(RuntimeWarning, match="started again"):
                    env.step(action)
            else:
                env.step(action)
            twin.step(action)
            np.testing.assert_array_equal(env.render(), twin.render())


def test_copies_show_the_same(client):
    import copy

    env = tetrion.PlacementEnv(address=client, render_mode="rgb_array", render_scale=0.5, render_palette="color-blind")
    env.reset(seed=1)
    env.step(0)
    twin = copy.deepcopy(env)
    np.testing.assert_array_equal(twin.render(), env.render())
    for one in (env, twin):
        one.step(3)
    np.testing.assert_array_equal(twin.render(), env.render())


def test_before_the_first_reset_there_is_no_picture(client):
    env = tetrion.PlacementEnv(address=client, render_mode="rgb_array")
    with pytest.raises(tetrion.ResetNeededError):
        env.render()


# In notebooks


def game(client, **kwargs):
    return client.evaluate("bcts", rules={"width": 6, "height": 8}, seeds=[1], record="best", **kwargs).recordings[0]


def test_a_notebook_shows_a_recording_and_loads_nothing(client):
    recording = game(client, max_pieces=40)
    page = recording._repr_html_()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<link|@import|url\(|src=|fetch|XMLHttp", page)
    for words in ("Play", "A step on", "A step back", "Speed", "Step"):
        assert words in page
    # Several on one page, the same recording twice: each has a name of its own, given twice.
    names = [re.findall(r"tetrion-[0-9a-f]{32}", recording.html()) for _ in range(2)]
    assert [len(set(some)) for some in names] == [1, 1]
    assert names[0][0] != names[1][0]
    assert len(page) < 30_000


@pytest.mark.parametrize(
    "rules", [{"preset": "guideline", "garbage": {"lines_per_piece": 0.7}}, {"preset": "tetrio", "players": 2}]
)
def test_the_script_of_a_notebook_gets_all_that_happens(client, rules):
    opponent = {"opponent": "dt-10"} if "players" in rules else {}
    evaluation = client.evaluate("tetrion-guideline", rules=rules, seeds=[2], max_pieces=60, record="all=1", **opponent)
    replay = evaluation.recordings[0].replay()
    data = json.loads(replay._native.page())
    width, height = data["w"], data["h"]
    rose = 0
    for side, scene in zip(data["sides"], (replay.scene, replay.opponent_scene), strict=False):
        cells = side["given"]
        for number, (landed, cleared, _, piece, holes) in enumerate(side["steps"]):
            for cell in landed:
                cells[cell] = piece
            kept = [row for row in range(height) if row not in cleared]
            risen = [[-1 if column == hole else 7 for column in range(width)] for hole in holes]
            rows = risen + [cells[row * width : (row + 1) * width] for row in kept]
            cells = [cell for row in rows for cell in row]
            cells = (cells + width * height * [-1])[: width * height]
            assert cells == scene(number + 1).cells.ravel().tolist(), f"step {number + 1}"
            rose += len(holes)
    assert len(data["sides"]) == (2 if opponent else 1)
    assert rose > 0


def test_texts_cannot_leave_their_place(client, tmp_path):
    recording = game(client, max_pieces=3)
    recording._message.player = '</script><img src=x onerror="alert(1)">&amp;\u2028'
    page = recording.html()
    assert page.count("<script") == page.count("</script>") == 1
    assert "<img" not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;" in page
    recording._message.player = ""
    recording.save(tmp_path / "game.json")
    check_file(tmp_path / "game.json")


def test_a_long_game_is_shown_in_part(client, monkeypatch):
    monkeypatch.setattr("tetrion._recordings.recording._MAX_SHOWN", 10)
    page = game(client, max_pieces=25).html(speed=0.25, render_palette="color-blind")
    assert "15 more steps are not shown" in page
    assert '"speed":0.25' in page
    with pytest.raises(tetrion.InvalidArgumentError, match="speed"):
        game(client, max_pieces=5).html(speed=0)


def test_what_cannot_be_played_shows_its_words_only(client):
    recording = game(client, max_pieces=5)
    recording._message.rules = recording._message.rules.changed(width=50)
    assert recording._repr_html_() is None
    assert "5 pieces" in repr(recording)
