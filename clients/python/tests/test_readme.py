"""What the README says about many servers, done."""

import re
from pathlib import Path

import tetrion

README = Path(__file__).parent.parent / "README.md"


def test_many_servers():
    section = README.read_text().split("\n## Many servers\n")[1]
    code = re.search(r"```python\n(.*?)```", section, re.S).group(1)
    servers = [tetrion.Server() for _ in range(3)]
    for number, server in enumerate(servers, start=1):
        assert f"10.0.0.{number}:50451" in code
        code = code.replace(f"10.0.0.{number}:50451", server.address)
    names = {"tetrion": tetrion}
    exec(code, names)
    assert names["result"].lines.size == 1000
    assert names["session"].num_envs == 64
    names["session"].close()
    names["servers"].close()
    for server in servers:
        server.close()
