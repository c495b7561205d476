"""The command, as a user starts and ends it."""

import contextlib
import signal
import subprocess
import sys

import pytest
import tetrion
from dm_env_rpc.v1.dm_env_rpc_pb2 import RUNNING

COMMAND = [sys.executable, "-m", "tetrion_dm_env_rpc"]
READY = "tetrion_dm_env_rpc listening on "
TOKEN = "0123456789abcdef0123456789abcdef"


@contextlib.contextmanager
def started(*flags):
    """A gateway, and its address."""
    command = [*COMMAND, *map(str, flags)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith(READY), process.communicate(timeout=30)
        yield process, line.removeprefix(READY).strip()
    finally:
        process.kill()
        process.communicate(timeout=30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_agents_play(links, number):
    with started("--listen", "127.0.0.1:0") as (process, address):
        link = links(address)
        link.play(seed=1)
        assert link.step()[0] == RUNNING
        process.send_signal(number)
        rest, errors = process.communicate(timeout=30)
        assert (process.returncode, rest, errors) == (0, "", "")


def test_it_plays_on_a_server_with_a_token(links, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    with tetrion.Server(args=["--token-file", str(token)]) as server, tetrion.Client(server, token=TOKEN) as client:
        with started("--listen", "localhost:0", "--server", server.address, "--token-file", token) as (process, address):
            link = links(address)
            world = link.play(label="agent 7", seed=1)
            assert link.step()[1]["seed"] == 1
            # The world's name is its session's.
            assert client.history(world).episodes.size == 0
            process.terminate()
            assert process.wait(timeout=30) == 0
        # Its sessions end with it.
        with pytest.raises(tetrion.SessionNotFoundError):
            client.history(world)


def test_a_lost_server_is_waited_for(links):
    with tetrion.Server() as server, started("--listen", "127.0.0.1:0", "--server", server.address) as (_, address):
        link = links(address)
        link.play(pieces="IO")
        link.step()
        # The session is lost with the server, and made again.
        server._process.kill()
        server._process.wait(timeout=30)
        with pytest.warns(RuntimeWarning, match="was started again"):
            server.revive()
        state, seen = link.step(0)
        assert (state, seen["pieces"]) == (RUNNING, 1)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--listen", "50452"], "--listen is '50452', expected HOST:PORT such as 127.0.0.1:50452"),
        (["--listen", "127.0.0.1:65536"], "--listen is '127.0.0.1:65536', expected HOST:PORT"),
        (["--listen", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0"),
        (["--listen", "[::]:0"], "other machines can reach [::]:0"),
        (["--max-worlds", "0"], "argument --max-worlds: '0' is no number from 1 to 10000"),
        (["--server", "127.0.0.1"], "address is '127.0.0.1', expected 'host:port'"),
        (["--server", "127.0.0.1:1"], "error: the connection failed"),
        (["--token-file", "nowhere"], "No such file or directory: 'nowhere'"),
    ],
)
def test_what_it_refuses(flags, message):
    done = subprocess.run([*COMMAND, *flags], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_port_has_one_gateway():
    with started("--listen", "127.0.0.1:0") as (_, address):
        done = subprocess.run([*COMMAND, "--listen", address], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1
        assert f"error: Failed to bind to address {address}" in done.stderr


def test_help():
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True, timeout=60)
    for flag in ("--listen", "--server", "--token-file", "--ca-cert", "--max-streams", "--max-worlds", "--insecure"):
        assert flag in done.stdout
    assert "127.0.0.1:50452" in done.stdout
