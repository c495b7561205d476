#!/usr/bin/env python3
"""Installs the files of a release as users do, each in an empty environment, and trains, evaluates and steps there.

    tests/release.py dist/release

The Python package and the programs find nothing on PATH. The TypeScript package needs Node and npm's registry, the Python
package pip's. Tests that start a server use the release's program.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# A search that takes seconds.
TRAINING = ["--generations", "2", "--population", "12", "--games", "2", "--final-games", "20", "--max-pieces", "300", "--height", "10"]


def main() -> None:
    release = Path(sys.argv[1]).resolve()
    check_sums(release)
    with tempfile.TemporaryDirectory(prefix="tetrion-release-") as scratch:
        folders = {name: Path(scratch, name) for name in ("programs", "python", "typescript", "protos", "openenv", "dm_env_rpc")}
        for folder in folders.values():
            folder.mkdir()
        program = check_programs(release, folders["programs"])
        check_python(release, folders["python"])
        check_package(release, "openenv", folders["openenv"])
        check_package(release, "dm_env_rpc", folders["dm_env_rpc"])
        check_typescript(release, folders["typescript"], program)
        check_protos(release, folders["protos"])


def only_file(release: Path, pattern: str) -> Path:
    """The only file of the release with such a name."""
    [file] = release.glob(pattern)
    return file


def check_sums(release: Path) -> None:
    lines = (release / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in release.iterdir() if path.name != "SHA256SUMS"}
    assert found == sums, f"SHA256SUMS says {sums}, and the files are {found}"
    for name in sums:
        print(name)


def bare(folder: Path) -> dict[str, str]:
    """The variables of a command that knows only its own folder."""
    return {"HOME": str(folder), "LANG": "C.UTF-8", "PATH": ""}


def run(command: list[object], folder: Path, **variables: str) -> str:
    """The output of a command that knows only its own folder, and no PATH unless one is given."""
    ran = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=bare(folder) | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if ran.returncode != 0:
        sys.exit(f"{command} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def check_programs(release: Path, folder: Path) -> Path:
    """Unpacks the programs; runs the conformance kit, steps over a socket, evaluates and trains. Returns the program."""
    with tarfile.open(only_file(release, "tetrion-*-*-*.tar.gz")) as archive:
        assert {member.uid + member.gid for member in archive} == {0}
        archive.extractall(folder, filter="data")
    [home] = folder.iterdir()
    assert {path.name for path in home.iterdir()} == {
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "LICENSE-THIRD-PARTY",
        "tetrion",
        "tetrion-lab",
        "tetrion.service",
    }
    program = home / "tetrion"
    check_images([program, home / "tetrion-lab"], only_file(release, "tetrion-*.whl").name)
    print(run([program, "--version"], folder).strip())
    run([home / "tetrion-lab", "--version"], folder)
    run([program, "conformance"], folder)
    assert "Step of 256" in run([program, "bench", "--quick", "--only", "calls"], folder)
    assert '"lines"' in run([program, "evaluate", "bcts", "--games", "2", "--max-pieces", "100", "--json"], folder)
    run([program, "train", *TRAINING, "--out", folder / "run"], folder)
    assert (folder / "run/weights.json").is_file()
    print("the programs pass the conformance kit, step, evaluate and train")
    return program


def check_images(programs: list[Path], wheel: str) -> None:
    """Programs need no newer glibc than the wheel says."""
    tag = re.search(r"manylinux_(\d+)_(\d+)_", wheel)
    newest = (int(tag[1]), int(tag[2])) if tag else None
    for program in programs:
        image = program.read_bytes()
        needed = max((int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", image))
        assert newest is None or needed <= newest, f"{program.name} needs glibc {needed}, the wheel {newest}"


def new_venv(folder: Path) -> Path:
    """A new virtual environment in a folder; returns its Python."""
    venv.create(folder / "venv", with_pip=True)
    return folder / "venv/bin/python"


def check_python(release: Path, folder: Path) -> None:
    """Installs the wheel alone; the package must find its program, and nothing else."""
    python = new_venv(folder)
    wheel = only_file(release, "tetrion-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("licenses/LICENSE-THIRD-PARTY") for name in names), names
    pip = dict(os.environ) | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], cwd=folder, env=pip, check=True)
    shutil.copy(TOP / "clients/python/tests/installed.py", folder)
    run([python, "-W", "error", "installed.py"], folder)
    run([folder / "venv/bin/tetrion", "train", *TRAINING, "--out", folder / "run"], folder)
    assert (folder / "run/weights.json").is_file()
    print("the Python package steps, evaluates and trains")


def check_package(release: Path, name: str, folder: Path) -> None:
    """Installs a wheel that needs ours without what it depends on, which its own tests run with."""
    python = new_venv(folder)
    wheel = only_file(release, f"tetrion_{name}-*.whl")
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], folder)
    version = wheel.name.split("-")[1]
    assert f"Version: {version}" in run([python, "-m", "pip", "show", f"tetrion_{name}"], folder)
    assert (folder / "venv/bin" / f"tetrion-{name.replace('_', '-')}").is_file()
    print(f"the {name} package can be installed")


def check_typescript(release: Path, folder: Path, program: Path) -> None:
    """Installs the package for Node; steps, evaluates and trains on the server of the release."""
    variables = {name: value for name, value in os.environ.items() if name == "PATH" or name.lower().startswith("npm_")}
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    package = only_file(release, "tetrion-typescript-*.tgz")
    home = os.environ.get("HOME", str(folder))
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", package], folder, **variables | {"HOME": home})
    shutil.copy(TOP / "clients/typescript/tests/installed.mjs", folder)
    command = [program, "serve", "--listen", "127.0.0.1:0", "--exit-on-stdin-eof", "--log", "error"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=bare(folder), **pipes) as server:
        line = server.stdout.readline()
        if not line:
            sys.exit("the server did not start; its error is above")
        print(run(["node", "installed.mjs", line.split()[-1]], folder, **variables).strip())
        server.communicate(timeout=60)


def check_protos(release: Path, folder: Path) -> None:
    """The proto files; `make test-cookbook` generates stubs from the same ones in every language."""
    with tarfile.open(only_file(release, "tetrion-protos-*.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    for path in (TOP / "proto").rglob("*.proto"):
        assert (folder / path.relative_to(TOP)).read_bytes() == path.read_bytes(), path
    print("the proto files are complete")


if __name__ == "__main__":
    main()
