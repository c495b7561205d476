"""The README is true: its Python runs from top to bottom as a reader pastes it, and prints what stands below it."""

import re
from pathlib import Path

import pytest

import tetrion

CLIENT = Path(__file__).parent.parent
README = CLIENT / "README.md"
LIBRARIES = CLIENT.parent.parent / "docs/libraries.md"
# For other tests, where the libraries are installed: tests/integrations.
ELSEWHERE = ("import ray", "from sb3_contrib")


def blocks(text):
    """Every Python block: its first line in the file, the code, and the text that follows at once, if any."""
    for found in re.finditer(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.S):
        yield text[: found.start()].count("\n") + 2, found[1], found[2]


@pytest.fixture
def addresses():
    """The servers in the README: the address of the one with a token, and the others by their addresses there."""
    secured = tetrion.Server(args=["--token", "secret"])
    servers = [tetrion.Server() for _ in range(3)]
    yield secured.address, {f"10.0.0.{number}:50451": server.address for number, server in enumerate(servers, start=1)}
    for server in (secured, *servers):
        server.close()


def test_every_block_runs_as_it_stands(addresses, capsys, tmp_path, monkeypatch):
    # It writes files.
    monkeypatch.chdir(tmp_path)
    secured, open_to_all = addresses
    names = {}
    printed = 0
    text = README.read_text()
    for line, code, expected in blocks(text):
        for written, address in open_to_all.items():
            code = code.replace(written, secured if 'token="secret"' in code else address)
        program = compile("\n" * (line - 1) + code, README, "exec")
        if code.startswith(ELSEWHERE):
            continue
        exec(program, names)
        output = capsys.readouterr().out
        if expected is not None:
            assert output == expected, f"the block at line {line}"
            printed += 1
        elif output:
            assert f"`{output.splitlines()[-1]}`" in text, f"the block at line {line}"
            printed += 1
    assert printed >= 8
    assert names["result"].lines.size == 1000
    assert names["session"].num_envs == 64
    names["session"].close()
    for name in ("envs", "remote", "servers", "client"):
        names[name].close()


def test_what_it_names_is_there():
    text = README.read_text() + LIBRARIES.read_text()  # which lists the examples
    makefile = (CLIENT.parent.parent / "Makefile").read_text()
    for target in set(re.findall(r"`make ([\w-]+)`", text)):
        assert re.search(rf"^{target}:", makefile, re.M), target
    files = re.findall(r"(?:python |`examples/|\]\()((?:examples/)?[\w/]+\.(?:py|ipynb|svg))", text)
    assert len(files) >= 8, files
    for file in files:
        assert (CLIENT / "examples" / file.removeprefix("examples/")).exists(), file
    headings = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.+)$", text, re.M)}
    for anchor in re.findall(r"\]\(#([\w-]+)\)", text):
        assert anchor in headings, anchor
    for error in re.findall(r"^\| `(\w+)`", text, re.M):
        assert not error[0].isupper() or hasattr(tetrion, error) or hasattr(tetrion.errors, error), error
