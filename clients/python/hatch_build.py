"""Build hook: generates `tetrion/_pb` from the proto files of the repository, and puts a server program into a wheel.

The hook moves the modules into the package and rewrites their imports, so that no other package called `tetrion` or `v1`
can get in the way. It does not generate `google/rpc/status.proto`: googleapis-common-protos contains it, and a process may
register a proto file only once.

If TETRION_WHEEL_SERVER names a server program, the wheel contains it as `tetrion/_bin/tetrion` and is tagged for the
platform of that program: any Python 3, no ABI, since Python does not load the program. The platform of a Linux program is
read from the program itself: its machine, and the newest glibc whose symbols it needs, which make up a `manylinux` tag.
Programs for other systems do not show all of it (macOS needs the oldest version that they run on), so for them
TETRION_WHEEL_PLATFORM must name it, as in `macosx_11_0_arm64` or `win_amd64`.

TETRION_WHEEL_URL is the address of the project for people who find the wheel in an index: a fork has an address of its own.
"""

from __future__ import annotations

import os
import re
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FILES = ["tensor", "rules", "features", "environment_service", "evaluation_service", "recording"]


class CustomMetadataHook(MetadataHookInterface):
    """Adds the address of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling when it reads the metadata."""
        home = os.environ.get("TETRION_WHEEL_URL", "").rstrip("/")
        metadata["urls"] = {"Homepage": home, "Documentation": f"{home}#readme", "Source": home} if home else {}


class CustomBuildHook(BuildHookInterface):
    """Generates the stubs before every build, also for editable installs, and adds the server program to wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        root = Path(self.root)
        if self.target_name == "sdist":
            return
        # A source distribution has the proto files beside this file, a checkout at its top.
        proto = next(path for path in (root / "proto", root / "../../proto") if path.is_dir())
        generate(proto.resolve(), root / "src/tetrion/_pb")
        server = os.environ.get("TETRION_WHEEL_SERVER")
        if server and version != "editable":
            platform = os.environ.get("TETRION_WHEEL_PLATFORM") or linux_platform(Path(server))
            name = "tetrion.exe" if platform.startswith("win") else "tetrion"
            build_data["force_include"][str(Path(server).resolve())] = f"tetrion/_bin/{name}"
            build_data["tag"] = f"py3-none-{platform}"
            build_data["pure_python"] = False


def linux_platform(server: Path) -> str:
    """The `manylinux` tag of a program, from its ELF header and the versions of the glibc symbols that it asks for."""
    program = server.read_bytes()
    machines = {0x3E: "x86_64", 0xB7: "aarch64"}
    machine = machines.get(int.from_bytes(program[18:20], "little"))
    if program[:6] != b"\x7fELF\x02\x01" or machine is None:
        known = " or ".join(machines.values())
        raise RuntimeError(f"{server} is not a Linux program for {known}; name its platform in TETRION_WHEEL_PLATFORM")
    versions = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", program)]
    if not versions:
        raise RuntimeError(f"{server} does not need glibc; name its platform in TETRION_WHEEL_PLATFORM")
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{machine}"


def generate(proto: Path, package: Path) -> None:
    """Writes the modules for the files of `proto/tetrion/v1` into `package`."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as scratch:
        status = protoc.main(
            [
                "protoc",
                f"-I{proto}",
                f"-I{resources.files('grpc_tools') / '_proto'}",
                f"--python_out={scratch}",
                f"--pyi_out={scratch}",
                f"--grpc_python_out={scratch}",
                *(f"tetrion/v1/{name}.proto" for name in FILES),
            ]
        )
        if status != 0:
            raise RuntimeError(f"protoc failed with status {status}")
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text('"""Generated from the proto files; see hatch_build.py."""\n')
        for module in (Path(scratch) / "tetrion/v1").glob("*_pb2*"):
            if module.name.endswith("_pb2_grpc.py") and "_service_" not in module.name:
                continue  # A file without services is empty.
            text = re.sub(r"^from tetrion\.v1 import", "from tetrion._pb import", module.read_text(), flags=re.M)
            # The module that the classes name: pickle looks for them there.
            text = re.sub(r"'tetrion\.v1\.(\w+_pb2)'", r"'tetrion._pb.\1'", text)
            (package / module.name).write_text(text)
