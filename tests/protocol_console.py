#!/usr/bin/env python3
"""Types the commands in the console blocks of docs/protocol.md that call a server, and compares what they print.

    tests/protocol_console.py target/debug/tetrion           # fails where the page is wrong
    tests/protocol_console.py target/debug/tetrion --update  # corrects the page

Needs bash, and buf on PATH. It starts a server of its own on a free port. Session names are random, so they are written as
sessions/ID.
"""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/protocol.md"
BLOCK = re.compile(r"^```console\n(\$ rpc\(\).*?)^```$", re.DOTALL | re.MULTILINE)
LAST = "--- the end of one command ---"


def start(program: str) -> tuple[subprocess.Popen, str]:
    """Starts a server; returns it and its address."""
    command = [program, "serve", "--listen", "127.0.0.1:0", "--log", "error", "--exit-on-stdin-eof"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    return server, line.removeprefix("tetrion listening on ").strip()


def typed(commands: list[str], address: str) -> list[str]:
    """What each command prints, in one shell, so that later ones know the variables of earlier ones."""
    script = "".join(f"{command}\necho; echo '{LAST}'\n" for command in commands)
    script = script.replace("127.0.0.1:50451", address)
    done = subprocess.run(
        ["bash"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=True
    )
    outputs = done.stdout.split(LAST + "\n")[:-1]
    return [re.sub(r"sessions/[0-9a-f]{32}", "sessions/ID", output).strip() for output in outputs]


def main() -> int:
    program, update = sys.argv[1], "--update" in sys.argv[2:]
    text = PAGE.read_text()
    blocks = BLOCK.findall(text)
    if not blocks:
        print(f"{PAGE.name} has no console block that begins with `$ rpc()`")
        return 1
    server, address = start(os.path.abspath(program))
    right = text
    for block in blocks:
        commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        outputs = typed(commands, address)
        shown = [f"$ {command}\n" + (f"{output}\n" if output else "") for command, output in zip(commands, outputs)]
        right = right.replace(block, "".join(shown))
    server.stdin.close()
    server.wait(timeout=60)
    if update:
        PAGE.write_text(right)
    elif right != text:
        sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), right.splitlines(True), PAGE.name, "typed"))
        return 1
    print(f"{sum(block.count(chr(10) + '$ ') + 1 for block in blocks)} commands do what {PAGE.name} says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
