"""Files that appear whole, and what must not be replaced: the counterpart of `tests/it/files.rs`."""

import os
import signal
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from recorded import three_pieces

from tetrion._files import whole_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices as POSIX has them")


@pytest.fixture(params=["unnamed", "named"], autouse=True)
def _naming(request, monkeypatch):
    """Everything twice: as on Linux, and where a new file needs a name."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.fixture
def folder(tmp_path):
    """A folder with files of the user whose names look temporary."""
    inner = tmp_path / "inner"
    inner.mkdir()
    kept = [inner / "out.part", inner / ".out.tmp"]
    for path in kept:
        path.write_text("mine")
    yield inner
    for path in kept:
        assert path.read_text() == "mine"
        path.unlink()
    assert sorted(path.name for path in inner.iterdir() if path.name.startswith(".")) == []


def write(path, data):
    with whole_file(path) as file:
        file.write(data)


def make_null_device(path):
    """A second /dev/null; only root may make one."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.open("wb").close()
    except OSError:
        path.unlink(missing_ok=True)
        pytest.skip("cannot make a device")


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_usual(folder):
    path, usual = folder / "out", folder / "usual"
    usual.touch()
    write(path, b"one")
    assert path.stat().st_mode == usual.stat().st_mode
    for mode in (0o600, 0o644, 0o751):
        path.chmod(mode)
        write(str(path), b"two")
        assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, b"two")


def test_links_are_followed(folder):
    (folder / "to-old").symlink_to("old")
    (folder / "to-new").symlink_to("deeper/../new")
    (folder / "deeper").mkdir()
    (folder / "old").write_text("old")
    for link in (folder / "to-old", folder / "to-new"):
        write(link, link.name.encode())
        assert link.is_symlink()
        assert link.read_text() == link.name


def test_pipes_and_devices_stay(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe, b"through the pipe")
    reader.join(60)
    assert found == [b"through the pipe"]
    assert pipe.is_fifo()
    null = folder / "null"
    make_null_device(null)
    write(null, b"gone")
    assert null.is_char_device()


def test_an_error_changes_nothing(folder):
    path = folder / "out"

    def fail(error):
        with whole_file(path) as file:
            file.write(b"half a fi")
            raise error

    for error in (ValueError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            fail(error)
        assert not path.exists()
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt())
    assert path.read_text() == "old"
    for wrong in (folder, folder / "no/out", "", f"{folder}/new/"):
        with pytest.raises(OSError, match=r"^((?!\.tetrion-).)*$"):
            write(wrong, b"")


def test_writers_of_one_file_do_not_damage_each_others(folder):
    path = folder / "out"
    sizes = {letter: 100_000 * number for number, letter in enumerate(b"abc", 1)}

    def write_often(letter):
        for _ in range(20):
            write(path, bytes([letter]) * sizes[letter])

    write_often(ord("a"))
    writers = [threading.Thread(target=write_often, args=[letter], daemon=True) for letter in sizes]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        found = path.read_bytes()
        assert found == found[:1] * sizes[found[0]]


def test_what_a_shell_has_open_is_not_replaced(folder):
    path = folder / "out"
    code = "from tetrion._files import whole_file\nwith whole_file('/dev/stdout') as file: file.write(b'in\\n')"
    with path.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True, timeout=120)
        file.seek(0, os.SEEK_END)
        file.write(b"after\n")
    assert path.read_bytes() == b"before\nin\nafter\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs files without a name")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_leaves_the_old_file_and_no_other(folder, number):
    path = folder / "out"
    path.write_text("old")
    code = (
        "import sys, time\nfrom tetrion._files import whole_file\nwith whole_file(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); print('now', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        process.send_signal(number)
        assert process.wait(60) == -number
    assert path.read_text() == "old"
    assert sorted(each.name for each in folder.iterdir()) == [".out.tmp", "out", "out.part"]


def test_recordings_are_saved_through_links(client, folder):
    recording = three_pieces(client)
    for name in ("game.json", "game.tetrion"):
        target, link = folder / f"target-{name}", folder / name
        link.symlink_to(target.name)
        recording.save(link)
        assert link.is_symlink()
        assert target.read_bytes()
        with suppress(OSError):
            recording.save(folder / "no" / name)
        assert not Path(folder / "no").exists()
