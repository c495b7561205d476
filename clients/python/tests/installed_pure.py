"""The package without its extension module, for servers alone. `make test-release` runs it where it is installed alone."""

import gymnasium

import tetrion

said = ""
try:
    gymnasium.make("tetrion/Placement-v0")
except tetrion.errors.ServerNotFoundError as error:
    said = str(error)
assert "address=" in said, said
with tetrion.Server() as server:  # of TETRION_BINARY
    for mode in ("rgb_array", "ansi"):
        env = gymnasium.make("tetrion/Placement-v0", address=server.address, render_mode=mode)
        env.reset(seed=0)
        assert env.step(4)[0]["board"].sum() == 4
        shown = env.render()
        assert shown.shape[2] == 3 if mode == "rgb_array" else "pieces 1" in shown
        env.close()
said = ""
try:
    tetrion.Recording.from_bytes(b"{}")
except tetrion.errors.ServerNotFoundError as error:
    said = str(error)
assert "extension module, which reads recordings" in said, said
print("a server plays for the package without Rust")
