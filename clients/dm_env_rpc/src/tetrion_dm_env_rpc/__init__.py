"""Tetris environments for clients of dm_env_rpc, DeepMind's protocol.

`python -m tetrion_dm_env_rpc` starts a gateway: a gRPC server that plays in its own process, or on a Tetrion server. Clients
need nothing of this package. `serving` does the same inside a program.

The package contains no rules of the game and no list of them: settings come from the types of `tetrion`, and specs from its
sessions.
"""

from tetrion_dm_env_rpc.service import serving

__all__ = ["serving"]
