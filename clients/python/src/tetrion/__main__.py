"""The `tetrion` program, wherever this package finds it: `tetrion serve`, or `python -m tetrion serve`.

`tetrion --version` prints the versions of the package and of the program.
"""

import os
import subprocess
import sys

from tetrion import _program
from tetrion._transport.server import find_program
from tetrion._transport.versions import RULES_VERSION, VERSION
from tetrion.errors import ServerNotFoundError


def print_versions() -> None:
    """Prints the version of this package and, if the program can run, the program's version."""
    print(f"tetrion {VERSION}, the Python package, made for {RULES_VERSION}")
    try:
        command = find_program()
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, timeout=10).stdout.strip()
        print(f"{said}, the program {command[-1]}")
    except ServerNotFoundError as error:
        print(error)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the program does not print its version: {error}")


def main() -> None:
    """Runs the program with this process's arguments, and exits with its code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print_versions()
        sys.exit()
    if not os.environ.get("TETRION_BINARY"):
        _program.main(arguments)
    try:
        command = [*find_program(), *arguments]
    except ServerNotFoundError as error:
        sys.exit(f"error: {error}")
    if os.name == "nt":
        # On Windows, exec would start another process, and the shell would not wait for it.
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
