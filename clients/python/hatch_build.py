"""Build hook: generates `tetrion/_pb` from the proto files of the repository.

The modules are moved into the package and their imports rewritten, so that no other package called `tetrion` or `v1` can get
in the way. `google/rpc/status.proto` is not generated: googleapis-common-protos has it, and a process may register a proto
file only once.
"""

from __future__ import annotations

import re
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ["tensor", "rules", "features", "environment_service", "evaluation_service"]


class CustomBuildHook(BuildHookInterface):
    """Generates the stubs before every build, editable ones included."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        root = Path(self.root)
        if self.target_name == "sdist":
            return
        # In a source distribution the proto files lie beside this one, in a checkout at its top.
        proto = next(path for path in (root / "proto", root / "../../proto") if path.is_dir())
        generate(proto.resolve(), root / "src/tetrion/_pb")


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
                continue  # A file without services has nothing in it.
            text = re.sub(r"^from tetrion\.v1 import", "from tetrion._pb import", module.read_text(), flags=re.M)
            # Where the classes say that they live: pickle looks for them there.
            text = re.sub(r"'tetrion\.v1\.(\w+_pb2)'", r"'tetrion._pb.\1'", text)
            (package / module.name).write_text(text)
