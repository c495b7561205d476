"""Build hook: generates `tetrion/_pb` from the proto files of the repository, and adds the extension module.

`tetrion/_pb/fields.py` has the messages that callers may write as dictionaries, as types with the comments of the proto
files, so that editors complete their fields and type checkers find typos. `tetrion/_pb/records.py` has those that callers
get, as frozen dataclasses.

`tetrion/_pb/messages.py` gives the extension module's messages their names, and its stub tells type checkers their fields.

It also puts the extension module `tetrion/_native` into the package: the services, the client's connections and the
`tetrion` program, for every Python from 3.11 on that has a global interpreter lock; free-threaded ones cannot load it, and
are refused. In a checkout it builds the module with cargo. If the environment variable TETRION_NATIVE names a library that
cargo has built, it takes that one; a source distribution, which has no Rust in it, needs it. An editable install links to
the library, so that a new build counts.

A wheel is tagged for its platform. That of a Linux library is read from the library itself: its machine, and
the newest glibc whose symbols it needs, which make up a `manylinux` tag. For other systems it is that of this Python, or
what TETRION_WHEEL_PLATFORM names, as in `macosx_11_0_arm64` or `win_amd64`.

TETRION_WHEEL_URL is the address of the project for people who find the wheel in an index: a fork has an address of its own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FILES = ["tensor", "rules", "features", "position", "seeding", "policy", "catalog", "server_info", "task"]
FILES += ["environment_service", "evaluation_service", "recording"]
# Messages of rules.proto that callers may write as dictionaries, those that others contain first.
DICTIONARIES = ["Scoring", "Garbage", "Rules"]
# Messages that callers get, with those that they contain, and what else they are called in Python.
RECORDS = ["GetServerInfoResponse", "GetCatalogResponse", "SessionConfig", "TensorSpec"]
RECORDS += ["GetTaskResponse", "ScoreTaskResponse"]
RECORDS += ["EvaluationStarted", "EvaluationProgress", "EvaluationSummary"]
RENAMED = {"GetServerInfoResponse": "ServerInfo", "GetCatalogResponse": "Catalog"}
RENAMED |= {"GetTaskResponse": "Task", "ScoreTaskResponse": "TaskScore"}
# Messages for which Python has other types.
TYPES = {
    "Duration": "float",
    "FeatureSelection": "str | tuple[str, ...]",
    "FieldNames": "tuple[str, ...]",
    "Policy": "Policy",
    "Rules": "RulesFields",
    "Search": "Search",
    "Seeding": "int",
}
# Fields that a record lacks, because this package sets them.
OMITTED = {"SessionConfig": ["min_revision"]}
# Fields of records that have another name in Python, where a seed is the only kind of seeding that a server returns.
RENAMED_FIELDS = {"SessionConfig": {"seeding": "seed"}}


class CustomMetadataHook(MetadataHookInterface):
    """Adds the address of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling when it reads the metadata."""
        home = os.environ.get("TETRION_WHEEL_URL", "").rstrip("/")
        metadata["urls"] = {"Homepage": home, "Documentation": f"{home}#readme", "Source": home} if home else {}


class CustomBuildHook(BuildHookInterface):
    """Generates the messages before every build, also for editable installs, and adds the extension module."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        root = Path(self.root)
        if self.target_name == "sdist":
            return
        # A source distribution has the proto files beside this file, a checkout at its top.
        proto = next(path for path in (root / "proto", root / "../../proto") if path.is_dir())
        generate(proto.resolve(), root / "src/tetrion/_pb")
        library = native_library(root)
        module = MODULES.get(platform.system(), "_native.abi3.so")
        if version == "editable":
            link(library, root / "src/tetrion" / module)
        else:
            build_data["force_include"][str(library)] = f"tetrion/{module}"
            build_data["tag"] = f"cp311-abi3-{wheel_platform(library)}"
            build_data["pure_python"] = False


# What Python calls the module on each system; elsewhere as on Linux.
MODULES = {"Windows": "_native.pyd"}
# What cargo calls the library.
LIBRARIES = {"Windows": "tetrion_native.dll", "Darwin": "libtetrion_native.dylib"}


def native_library(root: Path) -> Path:
    """The library of the extension module, which is built if need be.

    Raises:
        RuntimeError: There is no such library, it cannot be built, or this Python cannot load it.
    """
    named = os.environ.get("TETRION_NATIVE", "")
    checkout = root.parent.parent
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise RuntimeError(
            "this Python is free-threaded, and cannot load the extension module of this package. Use a Python with a global "
            "interpreter lock"
        )
    if named:
        library = Path(named).resolve()
        if not library.is_file():
            raise RuntimeError(f"TETRION_NATIVE is {named!r}, which is no file; expected a library built by cargo")
        return library
    if not (checkout / "Cargo.toml").is_file():
        raise RuntimeError(
            "a source distribution has no Rust in it, which the extension module of this package is built from. Install a "
            "wheel, or from a checkout, or set TETRION_NATIVE to the path of a library that cargo has built"
        )
    if shutil.which("cargo") is None:
        raise RuntimeError(
            "cargo is not installed, which builds the extension module of this package. Install Rust from "
            "https://rustup.rs, or install a wheel"
        )
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--package",
        "tetrion-python",
        "--message-format",
        "json-render-diagnostics",
    ]
    built = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode != 0:
        raise RuntimeError("cargo could not build the extension module; its messages are above")
    name = LIBRARIES.get(platform.system(), "libtetrion_native.so")
    artifacts = [json.loads(line) for line in built.stdout.splitlines()]
    files = [file for artifact in artifacts for file in artifact.get("filenames", ()) if Path(file).name == name]
    return Path(files[-1])


def link(library: Path, module: Path) -> None:
    """Puts a link to the library into the package of the checkout; where there are none, a copy."""
    module.unlink(missing_ok=True)
    try:
        module.symlink_to(library)
    except OSError:
        shutil.copyfile(library, module)


def wheel_platform(library: Path) -> str:
    """The platform in the tag of a wheel with this library."""
    named = os.environ.get("TETRION_WHEEL_PLATFORM")
    if named:
        return named
    manylinux = linux_platform(library) if platform.system() == "Linux" else None
    # A library has one architecture, also where Python has two.
    here = sysconfig.get_platform().replace("universal2", platform.machine())
    return manylinux or here.replace("-", "_").replace(".", "_")


def linux_platform(library: Path) -> str | None:
    """The `manylinux` tag of a library, from its ELF header and the versions of the glibc symbols that it asks for.

    None for another machine or another C library.
    """
    image = library.read_bytes()
    machines = {0x3E: "x86_64", 0xB7: "aarch64"}
    machine = machines.get(int.from_bytes(image[18:20], "little"))
    versions = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", image)]
    if image[:6] != b"\x7fELF\x02\x01" or machine is None or not versions:
        return None
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
                f"--descriptor_set_out={scratch}/described",
                "--include_source_info",
                "--include_imports",
                *(f"tetrion/v1/{name}.proto" for name in FILES),
            ]
        )
        if status != 0:
            raise RuntimeError(f"protoc failed with status {status}")
        shutil.rmtree(package, ignore_errors=True)  # with the modules of proto files that there were
        package.mkdir()
        described = (Path(scratch) / "described").read_bytes()
        (package / "fields.py").write_text(dictionaries(described))
        (package / "records.py").write_text(records(described))
        (package / "messages.py").write_text(MESSAGES)
        (package / "messages.pyi").write_text(stub(described))
        (package / "__init__.py").write_text('"""Generated from the proto files; see hatch_build.py."""\n')


# The extension module knows the messages; here they get their names.
MESSAGES = '''"""Every message and enum of the protocol, by its name; see hatch_build.py."""

from typing import NamedTuple

from tetrion import _native
from tetrion._native import Message


class Enum(NamedTuple):
    """An enum: its name, and the numbers of its values by their names."""

    name: str
    values: dict[str, int]

    def name_of(self, number: int) -> str:
        """The name of a value."""
        return next(name for name, known in self.values.items() if known == number)


class Field(NamedTuple):
    """A field: its name, the name of its type, and what its values are."""

    name: str
    kind: str
    is_list: bool
    has_presence: bool
    is_enum: bool
    is_message: bool


_kinds, _enums = _native.message_kinds(), _native.enums()
globals().update(_kinds)
for _name, _values in _enums.items():
    globals()[_name] = Enum(_name, dict(_values))
    globals().update(_values)
# The fields of each message by its full name, and by their names.
FIELDS = {
    kind.NAME: {
        field[0]: Field(*field, field[1] in _enums, field[1] in _kinds) for field in _native.fields(kind.NAME)
    }
    for kind in _kinds.values()
}
'''


def stub(described: bytes) -> str:
    """What type checkers know of the messages, from a set of file descriptors."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    lines = ['"""Every message and enum of the protocol; see hatch_build.py."""', ""]
    lines += ["from collections.abc import Sequence", "from typing import Any, NamedTuple, Self", ""]
    lines += ["from tetrion._native import Message as Message", ""]
    lines += ["class Enum(NamedTuple):", "    name: str", "    values: dict[str, int]"]
    lines += ["    def name_of(self, number: int) -> str: ...", ""]
    lines += ["class Field(NamedTuple):", "    name: str", "    kind: str"]
    lines += [f"    {name}: bool" for name in ("is_list", "has_presence", "is_enum", "is_message")] + [""]
    lines += ["FIELDS: dict[str, dict[str, Field]]", ""]
    files = FileDescriptorSet.FromString(described).file
    for file in files:
        for enum in file.enum_type:
            lines += [f"{enum.name}: Enum", *(f"{value.name}: int" for value in enum.value)]
        for message in file.message_type:
            fields = [(field.name, _attribute_type(field)) for field in message.field]
            written = "".join(f", {name}: {kind} | None = None" for name, kind in fields)
            lines += ["", f"class {message.name}(Message):"]
            lines += [f"    {name}: {kind}" for name, kind in fields]
            lines += [f"    def __init__(self{', *' if fields else ''}{written}) -> None: ..."]
            lines += [f"    def changed(self{', *' if fields else ''}{written}) -> Self: ..."]
    return "\n".join(lines) + "\n"


def _attribute_type(field: Any) -> str:
    """The type of a field of a message, for type checkers."""
    kinds = {field.TYPE_DOUBLE: "float", field.TYPE_FLOAT: "float", field.TYPE_BOOL: "bool"}
    kinds |= {field.TYPE_STRING: "str", field.TYPE_BYTES: "bytes"}
    kind = field.type_name.rpartition(".")[2] if field.type == field.TYPE_MESSAGE else kinds.get(field.type, "int")
    return f"Sequence[{kind}]" if field.label == field.LABEL_REPEATED else kind


def dictionaries(described: bytes) -> str:
    """A module with a TypedDict for each of `DICTIONARIES`, from a set of file descriptors with their comments."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    file = next(file for file in FileDescriptorSet.FromString(described).file if file.name.endswith("/rules.proto"))
    comments = _comments(file)
    enums = _enums(file)
    messages = {message.name: (number, message) for number, message in enumerate(file.message_type)}
    lines = ['"""Messages as dictionaries, generated from rules.proto; see hatch_build.py."""', ""]
    lines += ["from collections.abc import Sequence", "from typing import Literal, TypedDict"]
    for name in DICTIONARIES:
        number, message = messages[name]
        lines += ["", "", f"class {name}Fields(TypedDict, total=False):"]
        lines += [f'    """Fields of the message `{name}` by name; none is required.', "", "    Attributes:"]
        for at, field in enumerate(message.field):
            lines.append(f"        {field.name}: {_first_paragraph(comments[4, number, 2, at])}")
        lines += ['    """', "", *(f"    {field.name}: {_written_type(field, enums)}" for field in message.field)]
    return "\n".join(lines) + "\n"


def records(described: bytes) -> str:
    """A module with a frozen dataclass for each of `RECORDS` and the messages in them, from a set of file descriptors."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    files = [file for file in FileDescriptorSet.FromString(described).file if file.package == "tetrion.v1"]
    enums = {name: values for file in files for name, values in _enums(file).items()}
    messages = {
        message.name: (message, number, _comments(file))
        for file in files
        for number, message in enumerate(file.message_type)
    }
    lines = ['"""Messages as frozen dataclasses, generated from the proto files; see hatch_build.py."""', ""]
    lines += ["from __future__ import annotations", "", "from dataclasses import dataclass"]
    lines += ["from typing import TYPE_CHECKING, Literal", "", "from tetrion._pb.fields import RulesFields", ""]
    lines += ["if TYPE_CHECKING:", "    from tetrion._messages.policies import Policy, Search"]
    names: list[str] = []
    waiting = [*RECORDS]
    while waiting:
        name = waiting.pop(0)
        if name in names:
            continue
        names.append(name)
        message, number, comments = messages[name]
        lines += ["", "", "@dataclass(frozen=True)", f"class {RENAMED.get(name, name)}:"]
        lines += [f'    """{_first_paragraph(comments[4, number])}', "", "    Attributes:"]
        renamed = RENAMED_FIELDS.get(name, {})
        numbered = [(at, field) for at, field in enumerate(message.field) if field.name not in OMITTED.get(name, ())]
        fields = [(renamed.get(field.name, field.name), field) for _, field in numbered]
        about = [_first_paragraph(comments[4, number, 2, at]) for at, _ in numbered]
        lines += [f"        {field}: {text}" for (field, _), text in zip(fields, about, strict=True)]
        lines += ['    """', "", *(f"    {called}: {_record_type(field, enums)}" for called, field in fields)]
        contained = [field.type_name.rpartition(".")[2] for _, field in fields if field.type == field.TYPE_MESSAGE]
        waiting += [kind for kind in contained if kind not in TYPES]
    table = ", ".join(f'"tetrion.v1.{name}": {RENAMED.get(name, name)}' for name in names)
    originals = {name: {called: field for field, called in fields.items()} for name, fields in RENAMED_FIELDS.items()}
    exported = ", ".join(f'"{RENAMED.get(name, name)}"' for name in sorted(names))
    lines += ["", "", "# By the names of their messages.", f"RECORDS: dict[str, type] = {{{table}}}"]
    lines += ["# Fields of messages that have another name here.", f"FIELDS: dict[str, dict[str, str]] = {originals}", ""]
    lines += [f"__all__ = [{exported}]", "", "for _kind in RECORDS.values():", '    _kind.__module__ = "tetrion.records"']
    return "\n".join(lines) + "\n"


def _comments(file: Any) -> dict[tuple[int, ...], str]:
    return {tuple(location.path): location.leading_comments for location in file.source_code_info.location}


def _enums(file: Any) -> dict[str, list[str]]:
    return {enum.name: [value.name for value in enum.value] for enum in file.enum_type}


def _first_paragraph(comment: str) -> str:
    """The first paragraph of a comment on one line, which editors wrap, without the words for who sets a field."""
    about, *_ = comment.strip().split("\n\n")
    text = re.sub(r"^(OUTPUT_ONLY|INPUT_ONLY|REQUIRED|Optional): ", "", " ".join(about.split()))
    return text[:1].upper() + text[1:]


def _kind(field: Any, enums: dict[str, list[str]]) -> str:
    """The type of a number, a text, or a value of an enum, which is its name without a prefix."""
    name = field.type_name.rpartition(".")[2]
    if field.type == field.TYPE_ENUM:
        first, *values = enums[name]
        prefix = first.removesuffix("UNSPECIFIED")
        return f"Literal[{', '.join(repr(value.removeprefix(prefix).lower()) for value in values)}]"
    kinds = {field.TYPE_DOUBLE: "float", field.TYPE_BOOL: "bool", field.TYPE_STRING: "str", field.TYPE_BYTES: "bytes"}
    integers = (field.TYPE_UINT32, field.TYPE_UINT64, field.TYPE_INT32, field.TYPE_INT64, field.TYPE_FIXED64)
    return "int" if field.type in integers else kinds[field.type]


def _written_type(field: Any, enums: dict[str, list[str]]) -> str:
    """The type of a field as a caller writes it."""
    name = field.type_name.rpartition(".")[2]
    kind = f"{name}Fields" if field.type == field.TYPE_MESSAGE else _kind(field, enums)
    return f"Sequence[{kind}]" if field.label == field.LABEL_REPEATED else kind


def _record_type(field: Any, enums: dict[str, list[str]]) -> str:
    """The type of a field as a caller gets it: None for what is absent."""
    name = field.type_name.rpartition(".")[2]
    is_message = field.type == field.TYPE_MESSAGE
    kind = TYPES.get(name, RENAMED.get(name, name)) if is_message else _kind(field, enums)
    if field.label == field.LABEL_REPEATED:
        return f"tuple[{kind}, ...]"
    # Of what a server always sends.
    always = is_message and (name in ("Duration", "Statistics", "Policy") or name.endswith("Limits"))
    may_lack = field.proto3_optional or field.type == field.TYPE_ENUM or (is_message and not always)
    return f"{kind} | None" if may_lack and not (is_message and name == "Rules") else kind
