"""The server program, from wherever this package finds it: `python -m tetrion serve`."""

import os
import subprocess
import sys

from tetrion.server import find_binary

program = str(find_binary())
if os.name == "nt":
    # There exec starts another process, and the shell does not wait for it.
    sys.exit(subprocess.call([program, *sys.argv[1:]]))
os.execv(program, [program, *sys.argv[1:]])
