"""The server program, from wherever this package finds it: `python -m tetrion serve`."""

import os
import subprocess
import sys

from tetrion.server import ServerNotFound, find_binary

try:
    program = str(find_binary())
except ServerNotFound as error:
    sys.exit(f"error: {error}")
if os.name == "nt":
    # There exec starts another process, and the shell does not wait for it.
    sys.exit(subprocess.call([program, *sys.argv[1:]]))
os.execv(program, [program, *sys.argv[1:]])
