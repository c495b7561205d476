"""Data sets: what their files say, checked against the games, and that a recipe makes the same bytes again."""

import importlib.util
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import tetrion
from tetrion import dataset

pyarrow = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

SMALL = {"width": 6, "height": 12}


@pytest.fixture(scope="module")
def client():
    with tetrion.Client() as client:
        yield client


def again(path, client):
    """Writes a file again and compares; returns its columns."""
    copy = path.with_suffix(".again")
    assert dataset.regenerate(path, copy, client=client) == len(pq.read_table(path))
    assert copy.read_bytes() == path.read_bytes()
    return pq.read_table(path)


def about(path):
    return json.loads(pq.read_metadata(path).metadata[b"tetrion"])


def test_a_file_says_what_an_environment_shows(client, tmp_path):
    path = tmp_path / "games.parquet"
    rows = dataset.write(path, "bcts", games=3, seed=7, rules=SMALL, max_pieces=200, client=client)
    table = again(path, client)
    assert len(table) == rows
    told = about(path)
    assert told["recipe"]["rules"]["width"] == 6
    assert (told["format"], told["rules_version"]) == ("tetrion-dataset-1", client.server_info().rules_version)
    listed = client.enumerate_placements(tetrion.Drawing([], "I"), features="bcts8")
    assert tuple(told["feature_names"]) == listed.feature_names
    assert told["action_digits"] == {"orientation": 4, "column": 6}

    policy = client.get_policy("bcts")
    expected = client.evaluate("bcts", seeds=tetrion.DrawnSeeds(7, 3), rules=SMALL, max_pieces=200)
    steps = iter(table.to_pylist())
    with tetrion.PlacementEnv(address=client, rules=SMALL) as env:
        for game, (seed, pieces) in enumerate(zip(expected.seeds.tolist(), expected.pieces.tolist(), strict=True)):
            observation, info = env.reset(seed=seed)
            for step in range(pieces):
                row = next(steps)
                assert (row["game"], row["step"], row["seed"]) == (game, step, seed)
                assert np.array_equal(row["board"], observation["board"])
                assert row["placement_actions"] == np.flatnonzero(info["action_mask"]).tolist()
                listed = client.enumerate_placements(env.save_state(), features="bcts8")
                assert row["placement_features"] == listed.features.tolist()
                assert row["placement_values"] == listed.scores(policy.weights).tolist()
                assert row["choice"] == int(np.argmax(row["placement_values"]))
                assert row["action"] == row["placement_actions"][row["choice"]]
                observation, reward, terminated, _, info = env.step(row["action"])
                assert (row["reward"], row["terminated"]) == (reward, terminated)
                assert row["reward"] == row["placement_rewards"][row["choice"]]
                assert row["terminated"] == row["placement_ends"][row["choice"]]
                assert row["truncated"] == (step == 199 and not terminated)
            assert info["lines"] == expected.lines[game]
    assert next(steps, None) is None


@pytest.mark.parametrize(
    ("policy", "options", "columns"),
    [
        ("random", {}, set()),
        ("random", {"features": ["holes", "max_height"]}, {"features"}),
        (tetrion.Policy(formula="-holes - max_height^2"), {"features": "bcts8"}, {"features"}),
        (tetrion.Policy("dt-10", search=tetrion.Search(pieces=1)), {"features": ["holes"]}, {"features", "values"}),
        (
            tetrion.Policy(
                weights=np.linspace(-1, 1, 2 + 13),
                features=["holes", "lines_cleared"],
                model=tetrion.Mlp([3]),
                terminal_value="score",
                label="network",
            ),
            {},
            {"features", "values"},
        ),
        (
            tetrion.Policy(
                weights=np.linspace(-1, 1, 2 + 5**2),
                features=["holes", "lines_cleared"],
                model=tetrion.NTuple([tetrion.TuplePattern("heights", [3, 4], 4)], 10),
            ),
            {},
            {"features", "values"},
        ),
        ("tetrion-guideline", {"rules": "guideline"}, {"features", "values"}),
    ],
    ids=["random", "features", "formula", "search", "network", "tables", "guideline"],
)
def test_any_policy_makes_the_same_bytes_again(client, tmp_path, policy, options, columns):
    path = tmp_path / "games.parquet"
    options = {"rules": {"width": 10, "height": 8}, "games": 2, "max_pieces": 30, "client": client} | options
    dataset.write(path, policy, **options)
    table = again(path, client)
    optional = {"placement_features", "placement_values"}
    assert optional & set(table.column_names) == {f"placement_{name}" for name in columns}
    searches = isinstance(policy, tetrion.Policy) and policy.search is not None
    if "values" in columns and not searches:
        for row in table.to_pylist():
            assert row["choice"] == int(np.argmax(row["placement_values"]))


def test_a_server_makes_the_same_bytes(client, remote, tmp_path):
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    dataset.write(here, "bcts", games=np.int64(2), seed=np.uint64(3), rules=SMALL, max_pieces=1e2, client=client)
    dataset.write(there, "bcts", games=2, seed=3, rules=SMALL, max_pieces=100, client=remote)
    assert here.read_bytes() == there.read_bytes()


def test_observations_are_columns(client, tmp_path):
    path = tmp_path / "games.parquet"
    rules = {"width": 20, "height": 8, "preview": 2, "garbage": {"lines_per_piece": 0.1}}
    dataset.write(path, "random", games=1, rules=rules, observations=["board_bits", "queue", "heights"], client=client)
    table = again(path, client)
    assert table.column_names[3:6] == ["board_bits", "queue", "heights"]
    row = table.to_pylist()[2]
    assert [len(row[name]) for name in ("board_bits", "queue", "heights")] == [8, 2, 20]


def test_row_groups_bound_the_memory(client, tmp_path):
    path = tmp_path / "games.parquet"
    rows = dataset.write(path, "tetrion-10x20", games=40, max_pieces=100, client=client)
    metadata = pq.read_metadata(path)
    assert rows == 40 * 100
    # 64 parts of at most 32 steps, of which a game of 100 has four.
    groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert groups == [16 * 100, 16 * 100, 8 * 100]


def test_games_of_many_lengths_are_complete_and_in_order(client, tmp_path):
    path = tmp_path / "games.parquet"
    options = {"rules": {"width": 4, "height": 6}, "max_pieces": 70}
    dataset.write(path, "random", games=150, seed=11, client=client, **options)
    table = again(path, client)
    played = client.evaluate("random", seeds=tetrion.DrawnSeeds(11, 150), **options)
    assert [row["game"] for row in table.to_pylist()] == np.repeat(np.arange(150), played.pieces).tolist()
    assert table["step"].to_pylist() == [step for pieces in played.pieces.tolist() for step in range(pieces)]
    ends = np.cumsum(played.pieces) - 1
    ended = np.array(table["terminated"]) | np.array(table["truncated"])
    assert np.flatnonzero(ended).tolist() == ends.tolist()
    assert np.array(table["truncated"])[ends].tolist() == played.truncated.tolist()


def recordings(client, **options):
    options = {"seeds": tetrion.DrawnSeeds(3, 4), "rules": SMALL, "max_pieces": 40} | options
    return client.evaluate("random", record="all=4", **options).recordings


def test_recordings_make_the_same_bytes_again(client, tmp_path):
    path = tmp_path / "games.parquet"
    played = recordings(client)
    assert dataset.write(path, "bcts", recordings=played, client=client) == sum(map(len, played))
    table = again(path, client)
    assert table["action"].to_pylist() == [action for recording in played for action in recording.actions.tolist()]
    assert list(dict.fromkeys(table["seed"].to_pylist())) == [recording.seed for recording in played]
    assert about(path)["recipe"]["policy"] == {"name": "bcts"}
    assert sum(table["reward"].to_pylist()) == sum(recording.lines for recording in played)


def test_a_recording_of_explicit_pieces_and_of_a_forbidden_action(client, tmp_path):
    path = tmp_path / "games.parquet"
    with tetrion.PlacementEnv(address=client, rules=SMALL, invalid_action_policy="terminate") as env:
        recorder = tetrion.Recorder(env)
        env.reset(options={"piece_sequence": "IOTZ"})
        env.step(0)
        env.step(23)
        recording = recorder.recording()
    dataset.write(path, recordings=[recording], client=client)
    first, second = again(path, client).to_pylist()
    assert (first["seed"], first["choice"], first["terminated"]) == (None, 0, False)
    assert (second["action"], second["choice"], second["terminated"], second["truncated"]) == (23, None, True, False)


def test_wrong_arguments_are_named_and_write_nothing(client, tmp_path):
    path = tmp_path / "games.parquet"
    played = recordings(client)
    others = recordings(client, rules={"width": 7, "height": 12})
    with tetrion.KeypressEnv(address=client) as env:
        recorder = tetrion.Recorder(env)
        env.reset(seed=1)
        env.step(0)
        by_keys = recorder.recording()
    with tetrion.PlacementEnv(address=client, rules=SMALL) as env:
        recorder = tetrion.Recorder(env)
        env.restore_state(tetrion.Drawing(["##..##"], "I"))
        env.step(0)
        from_a_position = recorder.recording()
    falsified = tetrion.Recording.from_bytes(played[0].to_bytes())
    message = falsified._message
    message.outcome = message.outcome.changed(lines=message.outcome.lines + 1)
    for field, policy, options in [
        ("policy", None, {}),
        ("policy", 7, {}),
        ("games", "bcts", {"games": 0}),
        ("seed", "bcts", {"seed": -1}),
        ("max_pieces", "bcts", {"max_pieces": 2**20 + 1}),
        ("rules", "bcts", {"rules": {"widht": 6}}),
        ("rules.action_model", "bcts", {"rules": by_keys.rules}),
        ("features", "bcts", {"features": 3}),
        ("observations", "bcts", {"observations": "board"}),
        ("observations", "bcts", {"observations": ["board", "queue"]}),
        ("game", "bcts", {"game": 3}),
        ("games", None, {"recordings": played, "games": 4}),
        ("recordings", None, {"recordings": []}),
        (r"recordings\[1\]", None, {"recordings": [played[0], b""]}),
        (r"recordings\[1\].rules", None, {"recordings": [played[0], others[0]]}),
        (r"recordings\[1\] is not the game", None, {"recordings": [played[1], falsified]}),
        ("rules.action_model", None, {"recordings": [by_keys]}),
        (r"recordings\[0\].start", None, {"recordings": [from_a_position]}),
    ]:
        with pytest.raises(tetrion.InvalidRequestError, match=rf"^{field}[ :]"):
            dataset.write(path, policy, client=client, **options)
    with pytest.raises(tetrion.InvalidRequestError, match="no-such"):
        dataset.write(path, "no-such", client=client)
    for wrong in ("", None, tmp_path, tmp_path / "absent" / "games.parquet"):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^path is .*, expected "):
            dataset.write(wrong, "bcts", client=client)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"observations": ["board", "queue"]}, "observations have 'queue', which is empty under these rules"),
        ({"observations": ["bord"]}, "bord"),
        ({"features": ["hole"]}, "hole"),
    ],
)
def test_a_bad_name_is_refused_before_a_game_is_played(client, tmp_path, monkeypatch, options, said):
    monkeypatch.setattr(dataset.parquet, "recordings_of", lambda *_: pytest.fail("a game was played"))
    with pytest.raises(tetrion.InvalidRequestError, match=said):
        dataset.write(tmp_path / "games.parquet", **{"policy": "bcts", "client": client, **options})


def test_a_bad_name_for_minari_is_refused_before_a_game_is_played(client, monkeypatch):
    pytest.importorskip("minari")
    monkeypatch.setattr(dataset.minari_store, "recordings_of", lambda *_: pytest.fail("a game was played"))
    for name in ("", "tetris", "tetris/bcts", "tetris/bcts-v", "a b-v0", 3):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^dataset_id is .*, expected a name with a version"):
            dataset.write_minari(name, "bcts", client=client)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are found in /proc")
def test_ctrl_c_ends_the_command_in_a_sentence(tmp_path):
    path = tmp_path / "games.parquet"
    line = [sys.executable, "-m", "tetrion.dataset", path, "--policy", "tetrion-10x20", "--games", "10000"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, preexec_fn=restore_interrupts) as command:
        while not has_open(command.pid, tmp_path):
            assert command.poll() is None
            time.sleep(0.01)
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=100)
    assert (command.returncode, said) == (130, "interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def has_open(pid, folder):
    """Whether a process writes a file in a folder, which need not have a name yet."""
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink(link))
    return any(link.startswith(str(folder)) for link in links)


def restore_interrupts():
    """Under nohup or in the background of a script, a child would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_file_without_a_recipe_for_this_package_is_refused(client, tmp_path):
    path, copy = tmp_path / "games.parquet", tmp_path / "copy.parquet"
    dataset.write(path, "random", games=1, rules=SMALL, client=client)
    table, told = pq.read_table(path), about(path)

    def refused(error, match, content):
        wrong = tmp_path / "wrong.parquet"
        pq.write_table(table.replace_schema_metadata({"tetrion": content}), wrong)
        with pytest.raises(error, match=match):
            dataset.regenerate(wrong, copy, client=client)
        assert not copy.exists()

    refused(tetrion.errors.VersionMismatchError, "'old', expected", json.dumps(told | {"rules_version": "old"}))
    refused(tetrion.InvalidArgumentError, "file.format", json.dumps(told | {"format": "tetrion-dataset-0"}))
    refused(tetrion.InvalidArgumentError, "file.pyarrow is '1.0'", json.dumps(told | {"pyarrow": "1.0"}))
    for content in ("", "[]", "{", '"', "\0"):
        refused(tetrion.InvalidArgumentError, "file", content)
    recipe = told["recipe"]
    for name, values in {
        "rules": [None, 3, [], {}, {"width": "x", "action_model": "placement"}, recipe["rules"] | {"width": 3}],
        "policy": [None, 3, "bcts", [], {"name": 3}, {"weights": {}}, {"names": "bcts"}],
        "games": [None, 0, "x", 1e30],
        "seed": [None, -1, [1]],
        "max_pieces": [None, 0, 1e9],
        "recordings": [3, "x", [], [3], ["?"], [""], ["AAAA"], {}],
        "features": [3, {}, [3], "no-such"],
        "observations": [3, {}, "board", [3], ["no-such"]],
    }.items():
        for value in values:
            refused(tetrion.InvalidRequestError, None, json.dumps(told | {"recipe": recipe | {name: value}}))
        refused(
            tetrion.InvalidRequestError, name, json.dumps(told | {"recipe": {k: recipe[k] for k in recipe if k != name}})
        )
    (tmp_path / "text").write_text("no file of Parquet")
    with pytest.raises(tetrion.InvalidArgumentError, match="no Parquet file"):
        dataset.regenerate(tmp_path / "text", copy, client=client)
    with pytest.raises(FileNotFoundError):
        dataset.regenerate(tmp_path / "absent", copy, client=client)


def test_the_command_writes_the_same_file(client, tmp_path, capsys):
    path, other, third = tmp_path / "games.parquet", tmp_path / "other.parquet", tmp_path / "third.parquet"
    rows = dataset.write(path, "bcts", games=2, seed=5, rules=SMALL, features=["holes", "lines_cleared"], client=client)
    flags = ["--policy", "bcts", "--games", "2", "--seed", "5", "--features", "holes,lines_cleared"]
    line = [sys.executable, "-W", "error", "-m", "tetrion.dataset", str(other), *flags, "--rules", json.dumps(SMALL)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=100)
    assert (done.stdout, done.stderr) == (f"{other}: {rows} steps\n", "")
    dataset.main([str(third), "--regenerate", str(other)])
    assert capsys.readouterr().out == f"{third}: {rows} steps\n"
    assert path.read_bytes() == other.read_bytes() == third.read_bytes()

    (game,) = client.evaluate("bcts", seeds=[1], rules=SMALL, record="best").recordings
    game.save(tmp_path / "game.json")
    dataset.write(path, recordings=[game], observations=["board"], client=client)
    dataset.main([str(other), "--recordings", str(tmp_path / "game.json"), "--observations", "board"])
    assert path.read_bytes() == other.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices as POSIX has them")
def test_the_command_writes_through_links_pipes_and_devices(tmp_path, capsys):
    games = ["--policy", "bcts", "--games", "1", "--max-pieces", "20"]
    plain, link, target = (tmp_path / name for name in ("plain.parquet", "link.parquet", "target.parquet"))
    dataset.main([str(plain), *games])
    link.symlink_to(target.name)
    dataset.main([str(link), *games])
    assert link.is_symlink()
    assert target.read_bytes() == plain.read_bytes()
    assert about(target)["recipe"]["seed"] == "1", "a seed is text in JSON"

    target.unlink()
    os.mkfifo(target)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(target.read_bytes()), daemon=True)
    reader.start()
    dataset.main([str(link), *games])
    reader.join(100)
    assert found == [plain.read_bytes()]
    assert target.is_fifo()

    target.unlink()
    try:
        os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        target.open("wb").close()
    except OSError:
        pytest.skip("cannot make a device")
    dataset.main([str(link), *games])
    assert target.is_char_device()


@pytest.mark.parametrize(
    ("said", "flags"),
    [
        ("error: policy is not given", []),
        ("error: games is 0, expected", ["--policy", "bcts", "--games", "0"]),
        ("error: formula is given with policy", ["--policy", "bcts", "--formula=-holes"]),
        ("error: games is given with regenerate", ["--regenerate", "FILE", "--games", "1"]),
        ("error: minari is given with regenerate", ["--regenerate", "FILE", "--minari"]),
        ("error: rules has no field 'widht'", ["--policy", "bcts", "--rules", '{"widht": 6}']),
        ("No such file", ["--recordings", "FILE"]),
        ("No such file", ["--regenerate", "FILE"]),
    ],
)
def test_the_command_refuses(tmp_path, said, flags):
    path = str(tmp_path / "games.parquet")
    with pytest.raises(SystemExit, match=said):
        dataset.main([path, *(path if flag == "FILE" else flag for flag in flags)])
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_that_a_name_is_for_minari(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        SystemExit, match=r"error: path is 'tetris/bcts-v0', expected a file in a folder that exists; .* --minari"
    ):
        dataset.main(["tetris/bcts-v0", "--policy", "bcts"])


def test_the_command_refuses_rules_that_are_no_json(capsys):
    with pytest.raises(SystemExit, match="2"):
        dataset.main(["games.parquet", "--rules", '{"width": '])
    assert """argument --rules: is '{"width": ', expected JSON""" in capsys.readouterr().err


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "parquet"), ("minari", "minari")])
def test_a_missing_library_is_named(monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    call = dataset.write if module == "pyarrow" else dataset.write_minari
    with pytest.raises(tetrion.TetrionError, match=rf"pip install './clients/python\[{extra}\]'"):
        call("tetris/games-v0", "bcts")


@pytest.mark.filterwarnings("ignore")  # Minari asks for an author and a link.
def test_minari_has_the_same_games(client, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    options = {"games": 3, "rules": SMALL, "max_pieces": 50, "client": client}
    rows = dataset.write(tmp_path / "games.parquet", "bcts", **options)
    assert dataset.write_minari("tetris/bcts-v0", "bcts", **options) == rows
    table = pq.read_table(tmp_path / "games.parquet")
    stored = minari.load_dataset("tetris/bcts-v0")
    assert json.loads(stored.storage.metadata["tetrion"])["recipe"] == about(tmp_path / "games.parquet")["recipe"]
    for game, episode in enumerate(stored.iterate_episodes()):
        steps = table.filter(pyarrow.compute.equal(table["game"], game)).to_pylist()
        assert np.array_equal(episode.observations["board"][:-1], [step["board"] for step in steps])
        for name, values in {
            "action": episode.actions,
            "reward": episode.rewards,
            "terminated": episode.terminations,
            "truncated": episode.truncations,
        }.items():
            assert [step[name] for step in steps] == values.tolist(), name
        for step, mask in zip(steps, episode.infos["action_mask"], strict=False):
            assert step["placement_actions"] == np.flatnonzero(mask).tolist()
    with pytest.raises(tetrion.InvalidArgumentError, match="dataset_id is 'tetris/bcts-v0', which exists"):
        dataset.write_minari("tetris/bcts-v0", "bcts", **options)
    with pytest.raises(tetrion.InvalidArgumentError, match="policy is given with recordings"):
        dataset.write_minari("tetris/other-v0", "bcts", recordings=recordings(client))
    dataset.write_minari("tetris/recorded-v0", recordings=recordings(client))
    assert minari.load_dataset("tetris/recorded-v0").total_episodes == 4


def test_hugging_face_reads_the_file(client, tmp_path):
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "games.parquet"
    dataset.write(path, "bcts", games=2, rules=SMALL, max_pieces=20, client=client)
    rows = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows.to_list() == pq.read_table(path).to_pylist()
    assert rows.with_format("numpy")[0]["board"].shape == (12, 6)


@pytest.mark.filterwarnings("ignore")  # Minari asks for an author and a link.
def test_the_page_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    page = (Path(__file__).parents[4] / "docs/libraries.md").read_text()
    page = page.split("\n## Data sets\n")[1].split("\n## ")[0]
    command, printed = "python -m tetrion.dataset ", ""
    for kind, block in re.findall(r"```(sh|python|text)\n(.*?)```", page, re.DOTALL):
        if kind == "text":
            assert printed in (block, None)
        elif kind == "sh":
            for line in block.splitlines():
                if line.startswith(command):
                    dataset.main(shlex.split(line.removeprefix(command)))
            printed = capsys.readouterr().out
        elif all(importlib.util.find_spec(module) for module in re.findall(r"^(?:from|import) (\w+)", block, re.MULTILINE)):
            exec(compile(block, "docs/libraries.md", "exec"), {})
            printed = capsys.readouterr().out
        else:
            printed = None
