"""Pictures: which tetromino each cell came from, and the pixels of it."""

import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from recorded import check_file, program, random_actions, read_png

import tetrion
from tetrion._messages.tensors import to_numpy
from tetrion._pb import messages as pb
from tetrion._pictures import font, pictures, scenes

REPOSITORY = Path(__file__).parents[3]
PRESETS = ["simplified", "survey", "genetic", "leiden"]


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
            shown = envs._renderer.scenes([0, 1])
            for env_id, (scene, twin) in enumerate(zip(shown, twins, strict=True)):
                np.testing.assert_array_equal(scene.cells, twin.cells, f"step {step}")
                np.testing.assert_array_equal(scene.cells >= 0, observations["board"][env_id] == 1)
                assert (scene.lines, scene.pieces) == (infos["lines"][env_id], infos["pieces"][env_id])
                assert scene.current == (None if ended[env_id] and mode == "NextStep" else observations["current"][env_id])
    assert cleared > 10
    envs.close()


def test_what_a_landing_filled_is_found_from_two_playfields():
    def rows(*drawing):
        return [sum(1 << column for column, cell in enumerate(row) if cell == "#") for row in reversed(drawing)]

    before = rows("....", "#...", "##.#", "##.#")
    # Without full rows, the cells are what is new; here of a T that sticks out of the top.
    t_shapes, i_shapes, o_shapes = (scenes.orientations(piece) for piece in (2, 0, 1))
    assert scenes.landed(before, rows("..#.", "#.##", "##.#", "##.#"), 4, 0, 2, t_shapes) == (((2, 2), (2, 3), (3, 2)), ())
    # An I into the well: both full rows go.
    well = ((0, 2), (1, 2), (2, 2), (3, 2)), (0, 1)
    assert scenes.landed(before, rows("....", "....", "..#.", "#.#."), 4, 2, 0, i_shapes) == well
    # Rows that were full before go with the landing.
    full = rows("....", "....", "####", "....")
    square = ((2, 1), (2, 2), (3, 1), (3, 2)), (1,)
    assert scenes.landed(full, rows("....", ".##.", ".##.", "...."), 4, 1, 2, o_shapes) == square
    # A T, or the same upside down: both leave the same playfield, so the shape must be known.
    before, after = rows("....", "....", "...#", "...#"), rows("....", "....", "....", ".#.#")
    up, down = ((0, 0), (0, 1), (0, 2), (1, 1)), ((0, 1), (1, 0), (1, 1), (1, 2))
    assert scenes.landed(before, after, 4, 1, 0, [scenes.shape(up)]) == (up, (0,))
    assert scenes.landed(before, after, 4, 1, 0, [scenes.shape(down)]) == (down, (1,))
    # Nothing explains these.
    assert scenes.landed(before, rows("####", "####", "####", "####"), 4, 1, 0, i_shapes) == ((), ())


def test_shapes_turn():
    assert [len(scenes.orientations(piece)) for piece in range(7)] == [2, 1, 4, 2, 2, 4, 4]
    ell = scenes.shape([(5, 3), (6, 3), (7, 3), (5, 4)])
    assert ell == ((0, 0), (0, 1), (1, 0), (2, 0))
    assert scenes.turned(ell, left=True) == ((0, 0), (0, 1), (0, 2), (1, 2))
    assert scenes.turned(ell, left=False) == ((0, 0), (1, 0), (1, 1), (1, 2))
    for piece in range(7):
        for some in scenes.orientations(piece):
            assert scenes.turned(scenes.turned(some, left=True), left=False) == some


def test_drops_end_where_something_is():
    cells = np.full((4, 4), -1, np.int8)
    cells[0, 1] = 2
    assert scenes.dropped(((3, 1), (4, 1)), cells) == ((1, 1), (2, 1))
    assert scenes.dropped(((3, 0), (3, 3)), cells) == ((0, 0), (0, 3))
    assert scenes.dropped(((0, 1),), cells) == ()
    assert scenes.dropped((), cells) == ()


def test_after_a_snapshot_cells_are_grey_until_they_go(client):
    env, other = (
        tetrion.PlacementEnv(address=client, rules={"width": 4, "height": 6}, render_mode="rgb_array") for _ in range(2)
    )
    other.reset(options={"piece_sequence": "OOOO"})
    other.step(0)
    coloured = other.render()
    env.restore_state(other.save_state())
    (scene,) = env._renderer.scenes([0])
    assert scene.cells[:2].tolist() == [[7, 7, -1, -1]] * 2
    assert scene.pieces == 0
    assert not np.array_equal(env.render(), coloured)
    env.step(1)
    (scene,) = env._renderer.scenes([0])
    assert scene.cells[:4].tolist() == [[7, 7, -1, -1]] * 2 + [[-1, 1, 1, -1]] * 2
    env.step(2)
    (scene,) = env._renderer.scenes([0])
    assert (scene.cells == 1).sum() in (4, 8)
    assert 7 not in scene.cells[2:]


@pytest.mark.parametrize("kind", [tetrion.PlacementEnv, tetrion.KeypressEnv])
def test_snapshots_of_its_own_keep_their_colours(client, kind, monkeypatch):
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
    assert 7 not in env._renderer.scenes([0])[0].cells
    # With other pieces from there on, the episode is another one.
    env.restore_state(taken[-1][0], reseed=1)
    assert set(env._renderer.scenes([0])[0].cells.ravel()) <= {-1, 7}
    # What was forgotten is grey again.
    monkeypatch.setattr("tetrion._recordings.episode_log._MAX_REMEMBERED", 1)
    env.save_state()
    env.restore_state(taken[-1][0])
    assert set(env._renderer.scenes([0])[0].cells.ravel()) <= {-1, 7}


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


def test_colours_and_letters_are_those_of_the_program():
    colours = (REPOSITORY / "src/core/picture/colours.rs").read_text()
    found = [tuple(int(part, 16) for part in parts) for parts in re.findall(r"\[0x(..), 0x(..), 0x(..)\]", colours)]
    ours = [colour for colours in pictures.PALETTES.values() for colour in colours[:7]]
    assert found[:14] == ours
    named = [pictures.BACKGROUND, pictures.EMPTY_CELL, pictures.GRID, pictures.FRAME, pictures.LABEL, pictures.VALUE]
    assert found[14:] == [pictures.PALETTES["usual"][7], *named, pictures.BRIGHT]
    letters = re.findall(r"\('(\\?.)', \[(.*?)\]\)", (REPOSITORY / "src/core/picture/font.rs").read_text())
    assert len(letters) == 55
    for letter, rows in letters:
        drawn = font.dots(letter.removeprefix("\\"))
        bits = [int(row, 16) for row in rows.split(", ")]
        assert [int("".join("01"[dot] for dot in row[:5]), 2) for row in drawn.tolist()] == bits, letter


@pytest.mark.parametrize("size", [(4, 4), (5, 7), (10, 20), (32, 40)])
@pytest.mark.parametrize("scale", [0.25, 1, 1.3, 4])
def test_pictures_have_even_sizes_and_the_same_for_all_steps(size, scale):
    rules = pb.Rules(width=size[0], height=size[1], preview=3)
    layout = pictures.Layout.of(rules, scale, has_current=True)
    assert (layout.width % 2, layout.height % 2) == (0, 0)
    empty = np.full(size[::-1], -1, np.int8)
    scene = scenes.Scene(empty, 0, (), (), (1, 2, 3), (), (), 0, 123456789, 0, 0.0, None)
    assert pictures.Painter(layout).paint(scene).shape == (layout.height, layout.width, 3)


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


def test_an_environment_that_does_not_render_asks_for_nothing_more(client, monkeypatch):
    """Nor does one that can render, until it does."""
    calls = []
    sessions = len(client._connection.call("ListSessions", pb.ListSessionsRequest(page_size=1000)).sessions)
    for mode in (None, "rgb_array"):
        env = tetrion.PlacementEnv(address=client, render_mode=mode)
        ask = env.session._link.ask
        monkeypatch.setattr(env.session._link, "ask", lambda *args, ask=ask: calls.append(args) or ask(*args))
        env.reset(seed=1)
        for action in range(5):
            env.step(action)
        assert calls == []
        assert bool(env.session._link.listeners) == (mode is not None)
        now = len(client._connection.call("ListSessions", pb.ListSessionsRequest(page_size=1000)).sessions)
        assert now == sessions + 1
        env.close()


def test_pictures_survive_a_lost_server_and_a_lost_lease():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        env = tetrion.PlacementEnv(
            address=client, rules={"width": 5, "height": 9}, snapshot_every=2, render_mode="rgb_array"
        )
        twin = tetrion.PlacementEnv(address=client, rules={"width": 5, "height": 9})
        recorder = tetrion.Recorder(twin)
        for one in (env, twin):
            one.reset(seed=2)
        for step in range(6):
            (fits,) = np.nonzero(env.action_masks())
            action = int(fits[step % 2 * (len(fits) - 1)])
            if step == 2:
                # As when no picture was asked for in an hour.
                env._renderer._replayer._session.close()
            if step == 4:
                server._process.kill()
                with pytest.warns(RuntimeWarning, match="started again"):
                    env.step(action)
            else:
                env.step(action)
            env.render()
            twin.step(action)
        cells = recorder.recording().replay().scene().cells
        np.testing.assert_array_equal(env._renderer.scenes([0])[0].cells, cells)


def test_copies_show_what_they_know(client):
    import copy

    env = tetrion.PlacementEnv(address=client, render_mode="rgb_array", render_scale=0.5, render_palette="color-blind")
    env.reset(seed=1)
    env.step(0)
    twin = copy.deepcopy(env)
    assert twin.render().shape == env.render().shape
    assert set(twin._renderer.scenes([0])[0].cells.ravel()) == {-1, 7}
    twin.reset(seed=1)
    twin.step(0)
    np.testing.assert_array_equal(twin.render(), env.render())


def test_a_game_not_rendered_for_long_is_shown_from_where_it_is(client, monkeypatch):
    monkeypatch.setattr("tetrion._envs.rendering._MAX_BEHIND", 3)
    env = tetrion.PlacementEnv(address=client, render_mode="rgb_array")
    env.reset(options={"piece_sequence": "OOOOOOOO"})
    env.step(0)
    env.render()
    for action in (2, 4, 6):
        env.step(action)
    assert set(env._renderer.scenes([0])[0].cells.ravel()) == {-1, 1}
    for action in (8, 0, 2, 4):
        env.step(action)
    assert set(env._renderer.scenes([0])[0].cells.ravel()) == {-1, 7}


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
    recording._message.rules.width = 50
    assert recording._repr_html_() is None
    assert "5 pieces" in repr(recording)
