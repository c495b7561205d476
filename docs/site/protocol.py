"""The reference of the protocol: a page per proto file, from its comments.

In a comment, an indented block is a table or code, and a line after `#` is a heading. The name of a call or a message
becomes a link if it has several words, or is all that stands between backquotes.
"""

import re
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from textwrap import dedent, indent

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

# Numbers of fields in the descriptor of a file, of which the path of a comment consists.
MESSAGES, ENUMS, SERVICES, SYNTAX, MEMBERS = 4, 5, 6, 12, 2


def pages(proto: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of the page of each file in `proto/tetrion/v1`."""
    sources = [str(path) for path in sorted(proto.glob("tetrion/v1/*.proto"))]
    with tempfile.NamedTemporaryFile() as out:
        includes = [f"-I{proto}", f"-I{files('grpc_tools') / '_proto'}"]
        if protoc.main(["protoc", *includes, f"--descriptor_set_out={out.name}", "--include_source_info", *sources]):
            raise RuntimeError("protoc failed")
        described = FileDescriptorSet.FromString(Path(out.name).read_bytes()).file
    places = {}
    for file in described:
        calls = [call for service in file.service for call in service.method]
        for item in [*calls, *file.message_type, *file.enum_type]:
            places[item.name] = f"{Path(file.name).stem}.md#{item.name.lower()}"
    return ((Path(file.name).stem, page(file, places)) for file in described)


def page(file: FileDescriptorProto, places: dict[str, str]) -> str:
    """The comment at the head of a file, then services, messages and enums in their order."""
    locations = {tuple(location.path): location for location in file.source_code_info.location}

    def link(name: str) -> str:
        name = name.removeprefix(".tetrion.v1.").removeprefix(".")
        return f"[{name}]({places[name.strip('`')]})" if name.strip("`") in places else name

    def about(*path: int) -> str:
        blocks = []
        for block in re.sub("^ ", "", locations[path].leading_comments, flags=re.M).strip("\n").split("\n\n"):
            text = re.sub("^#", "##" if path == (SYNTAX,) else "###", block.replace("\n", " ").replace("<", "&lt;"))
            text = re.sub(r"`[^`]*`|\b[A-Z][a-z]+[A-Z]\w+\b", lambda name: link(name[0]), text)
            blocks.append(f"~~~ text\n{dedent(block)}\n~~~" if block.startswith("  ") else text)
        return "\n\n".join(blocks).replace("\n~~~\n\n~~~ text\n", "\n\n")

    def member(name: str, words: str, *path: int) -> str:
        return f"**`{name}`** {words}\n:   {indent(about(*path), '    ').strip()}"

    parts = []
    for at, service in enumerate(file.service):
        lines = []
        for n, call in enumerate(service.method):
            sides = [(call.client_streaming, call.input_type), (call.server_streaming, call.output_type)]
            lines += [f"### {call.name}", " → ".join("stream of " * streams + link(name) for streams, name in sides)]
            lines.append(about(SERVICES, at, MEMBERS, n))
        parts.append(((SERVICES, at), service.name, lines))
    for at, message in enumerate(file.message_type):
        lines = []
        for n, field in enumerate(message.field):
            words = link(field.type_name) or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
            if field.label == field.LABEL_REPEATED:
                words = f"repeated {words}"
            elif field.proto3_optional:
                words = f"optional {words}"
            elif field.HasField("oneof_index"):
                words += f", one of `{message.oneof_decl[field.oneof_index].name}`"
            lines.append(member(field.name, f"{words} = {field.number}", MESSAGES, at, MEMBERS, n))
        parts.append(((MESSAGES, at), message.name, lines))
    for at, enum in enumerate(file.enum_type):
        lines = [member(value.name, f"= {value.number}", ENUMS, at, MEMBERS, n) for n, value in enumerate(enum.value)]
        parts.append(((ENUMS, at), enum.name, lines))
    parts.sort(key=lambda part: locations[part[0]].span[0])
    text = [f"# {Path(file.name).name}", about(SYNTAX)]
    for path, name, lines in parts:
        text += [f"## {name}", about(*path), *lines]
    return "\n\n".join(text) + "\n"
