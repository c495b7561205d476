"""The server program, from wherever this package finds it: `python -m tetrion serve`.

`python -m tetrion --version` prints both versions, and needs no server.
"""

import os
import subprocess
import sys

from tetrion._transport.server import find_binary
from tetrion._transport.versions import RULES_VERSION, VERSION
from tetrion.errors import ServerNotFoundError


def print_versions() -> None:
    """Prints the version of this package, and that of the server program if there is one."""
    print(f"tetrion {VERSION}, the Python package, made for {RULES_VERSION}")
    try:
        program = find_binary()
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        print(f"{said}, the server program {program}")
    except ServerNotFoundError as error:
        print(error)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the server program does not print its version: {error}")


if sys.argv[1:] in (["--version"], ["-V"]):
    print_versions()
    sys.exit()
try:
    program = str(find_binary())
except ServerNotFoundError as error:
    sys.exit(f"error: {error}")
if os.name == "nt":
    # On Windows exec starts another process, and the shell does not wait for it.
    sys.exit(subprocess.call([program, *sys.argv[1:]]))
os.execv(program, [program, *sys.argv[1:]])
