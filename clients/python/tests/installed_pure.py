"""The package without its extension module, for servers alone. `make test-wheel` runs it where nothing else is installed."""

import gymnasium

import tetrion

said = ""
try:
    gymnasium.make("tetrion/Placement-v0")
except tetrion.errors.ServerNotFoundError as error:
    said = str(error)
assert "address=" in said, said
with tetrion.Server() as server:  # of TETRION_BINARY
    env = gymnasium.make("tetrion/Placement-v0", address=server.address)
    env.reset(seed=0)
    assert env.step(4)[0]["board"].sum() == 4
    env.close()
print("a server plays for the package without Rust")
