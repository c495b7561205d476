"""Servers that the package starts: found, ready, and never left behind."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tetrion
from tetrion._transport.server import find_program


def test_ends_when_closed():
    with tetrion.Server() as server:
        assert server.address.startswith("127.0.0.1:")
        assert tetrion.Client(server).server_info().rules_version
    assert not server.running


def test_ends_with_the_process_that_started_it():
    # The child is killed, so none of our code runs at its end. Its server has the same stderr, so the wait ends when both
    # are gone.
    script = "import os, tetrion; print(tetrion.Server().address, flush=True); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -9
    with tetrion.Client(done.stdout.strip()) as client, pytest.raises(tetrion.ServerUnavailableError):
        client.server_info()


def test_the_program_is_the_packages_own_unless_another_is_named(monkeypatch, tmp_path):
    program = tmp_path / "tetrion"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    monkeypatch.setenv("TETRION_BINARY", str(program))
    assert find_program() == [str(program)]
    monkeypatch.setenv("TETRION_BINARY", "/nowhere/tetrion")
    with pytest.raises(tetrion.errors.ServerNotFoundError, match="TETRION_BINARY is '/nowhere/tetrion'"):
        find_program()
    monkeypatch.delenv("TETRION_BINARY")
    assert find_program()[-1] == str(Path(tetrion.__file__).with_name("_program.py"))


def test_the_command_without_a_server_program(monkeypatch):
    monkeypatch.setenv("TETRION_BINARY", "/nowhere/tetrion")
    done = subprocess.run([sys.executable, "-m", "tetrion", "serve"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: TETRION_BINARY is '/nowhere/tetrion', which is not a program that can run\n"


def test_server_not_started_says_how_it_ended():
    with pytest.raises(tetrion.errors.ServerNotStartedError, match="ended with status 1"):
        tetrion.Server("/bin/false")
    with pytest.raises(tetrion.errors.ServerNotStartedError, match="ended with status 2"):
        tetrion.Server(args=["--no-such-flag"])


def test_ctrl_c_is_for_the_process_that_started_it():
    """A terminal sends it to a whole group of processes; ours may still need its server to save its work."""
    script = """
        import signal, tetrion, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background of a shell ignores
        server = tetrion.Server()
        client = tetrion.Client(server)
        try:
            print("ready", flush=True)
            for _ in range(6000):
                time.sleep(0.01)  # One long wait would sleep through a signal that comes just before it.
        except KeyboardInterrupt:
            client.server_info()
            print("the server answers", flush=True)
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        os.killpg(child.pid, signal.SIGINT)
        assert child.stdout.readline() == "the server answers\n"
    assert child.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_does_not_keep_it_alive():
    """It would, if it kept the pipe open whose end the server waits for."""
    fork = multiprocessing.get_context("fork")
    server = tetrion.Server()
    stop = fork.Event()
    child = fork.Process(target=stop.wait, args=(60,))
    child.start()
    process = server._process
    server.close(timeout=30)
    assert process.returncode == 0  # by itself, and not by force
    assert child.is_alive()
    stop.set()
    child.join()


def test_the_environment_names_the_server_of_clients_without_an_address(server, monkeypatch):
    monkeypatch.setenv("TETRION_SERVER", server.address)
    with tetrion.Client() as client:
        assert client.address == server.address
        again = pickle.loads(pickle.dumps(client))
        monkeypatch.setenv("TETRION_SERVER", "127.0.0.1:1")
        assert again.address == server.address
        assert pickle.loads(pickle.dumps(client)).address == "127.0.0.1:1"
    env = tetrion.PlacementEnv(address=server.address)
    assert env.client.address == server.address
    env.close()
    monkeypatch.setenv("TETRION_SERVER", "http://127.0.0.1:1")
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^TETRION_SERVER is 'http://127.0.0.1:1', expected 'host:port'"):
        tetrion.Client()
