"""The README at the top of the repository: its Python runs, and its picture is a game that was played."""

import re
from pathlib import Path

README = Path(__file__).parents[3] / "README.md"


def test_its_python_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names = {}
    exec(compile(code, README, "exec"), names)
    assert names["observations"]["board"].shape == (256, 20, 10)
    assert names["rewards"].shape == (256,)
    names["envs"].close()


def test_its_picture_is_a_game_of_bcts(client):
    bcts = next(item for item in client.server_info().controllers if item.name == "bcts")
    frames = []
    with client.create_session(1, rules={"width": 10, "height": 8}, features="bcts8", seed=1) as session:
        session.reset()
        while len(frames) < 28:
            placements = session.enumerate_placements()
            session.step(placements.actions[placements.best_rows(placements.linear_scores(bcts.weights))])
            frames += session.render()
    rows = zip(*(frame.splitlines() for frame in frames[23:]), strict=True)
    picture = "\n".join("   ".join(row) for row in rows)
    assert f"```text\n{picture}\n```" in README.read_text()
