#!/usr/bin/env python3
"""Runs the commands of docs/languages.md and compares what the programs in this folder print with expected.txt.

    clients/cookbook/run.py target/debug/tetrion              # the languages whose tools are here
    clients/cookbook/run.py target/debug/tetrion Go Ruby      # two of them
    clients/cookbook/run.py target/debug/tetrion --require    # fails if any tool is missing
    clients/cookbook/run.py --install                         # installs Debian's packages for all languages (needs root)

Every `##` section of the page that has a block of shell is a language. Its commands run in .tools/cookbook/LANGUAGE, with
the files of the folder here that the section links to, its Python block as first.py, and those of
dist/tetrion-protos-*.tar.gz (`make protos`). Lines that begin with `apt-get install` name packages that must be there. A
section with a block of text prints that instead. Without a program, a section is right if its commands succeed.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/languages.md"
APT = "apt-get install --no-install-recommends "
SECONDS = 420  # for one language


@dataclass
class Language:
    """A section of the page."""

    name: str
    packages: list[str]  # Debian's
    commands: str
    program: Path | None
    first: str  # a program that the page shows
    expected: str

    def missing(self) -> list[str]:
        """Tools that are not here: packages, and the programs at the beginning of commands."""
        packages = [package for package in self.packages if not is_installed(package)]
        words = [re.sub(r"^(\w+=\S* )+", "", line).split()[0] for line in self.commands.replace("\\\n", "").splitlines()]
        return packages + sorted({word for word in words if "/" not in word and not shutil.which(word)})

    def run(self, address: str) -> tuple[bool, float, str]:
        """Whether the commands do what the page says, the seconds that they took, and what is wrong."""
        folder = ROOT / ".tools/cookbook" / self.name.replace(" ", "-")
        for old in ("gen", "proto"):
            shutil.rmtree(folder / old, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        if self.program:
            shutil.copytree(self.program, folder, dirs_exist_ok=True)
        if self.first:
            (folder / "first.py").write_text(self.first)
        with tarfile.open(max((ROOT / "dist").glob("tetrion-protos-*.tar.gz"))) as archive:
            archive.extractall(folder)
        began = time.monotonic()
        try:
            script = ["bash", "-euo", "pipefail", "-c", self.commands.replace("127.0.0.1:50451", address)]
            done = subprocess.run(
                script, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return False, SECONDS, "out of time"
        seconds = time.monotonic() - began
        if done.returncode:
            return False, seconds, done.stdout + done.stderr
        printed = done.stdout if self.program else ""
        lines = (text.splitlines(True) for text in (self.expected, printed))
        difference = "".join(difflib.unified_diff(*lines, "expected", self.name))
        return not difference, seconds, difference


def is_installed(package: str) -> bool:
    """Whether a package of Debian is installed."""
    if not shutil.which("dpkg-query"):
        return False
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}", package]
    return subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout == "installed"


def languages() -> list[Language]:
    """The sections of the page that have commands."""
    found = []
    for section in PAGE.read_text().split("\n## ")[1:]:
        sh, python, text = (
            "".join(re.findall(rf"^```{kind}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE))
            for kind in ("sh", "python", "text")
        )
        lines = sh.splitlines()
        commands = "\n".join(line for line in lines if not line.startswith(APT))
        packages = [package for line in lines if line.startswith(APT) for package in line.removeprefix(APT).split()]
        program = re.search(r"\]\(\.\./clients/cookbook/(\w+)", section)
        if commands:
            folder = HERE / program[1] if program else None
            expected = text or ((HERE / "expected.txt").read_text() if folder else "")
            found.append(Language(section.split("\n")[0], packages, commands, folder, python, expected))
    without = {path for path in HERE.iterdir() if path.is_dir()} - {language.program for language in found}
    assert not without, f"{PAGE.name} says nothing about {without}"
    return found


def main() -> int:
    """Runs what the arguments say; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    chosen = [language for language in languages() if language.name in arguments.names or not arguments.names]
    if arguments.install:
        subprocess.run(["apt-get", "update", "--quiet=2"], check=True)
        packages = sorted({package for language in chosen for package in language.packages})
        return subprocess.run([*APT.split(), "--yes", "--quiet=2", *packages], stdout=subprocess.DEVNULL).returncode
    command = [os.path.abspath(arguments.server), "serve", "--listen=127.0.0.1:0", "--log=error", "--exit-on-stdin-eof"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().removeprefix("tetrion listening on ").strip()
    passed = failed = skipped = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [(language, language.missing()) for language in chosen]
        runs = [(language, missing, None if missing else pool.submit(language.run, address)) for language, missing in runs]
        for language, missing, run in runs:
            if run is None:
                print(f"{language.name:16} skipped: missing {' '.join(missing)}", flush=True)
                skipped += 1
                continue
            is_right, seconds, wrong = run.result()
            print(f"{language.name:16} {seconds:5.0f} s{'' if is_right else '  FAILED' + chr(10) + wrong}", flush=True)
            passed, failed = passed + is_right, failed + (not is_right)
    server.stdin.close()
    server.wait(timeout=60)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or (arguments.require and skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
