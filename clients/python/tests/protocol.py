"""Every message and enum of the protocol as protobuf's own library has them: a second reader, and servers that lie."""

import tempfile
from importlib import resources
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

from tetrion._messages.tensors import from_numpy

PROTO = Path(__file__).parents[3] / "proto"


def _described():
    with tempfile.NamedTemporaryFile() as file:
        include = [f"-I{PROTO}", f"-I{resources.files('grpc_tools') / '_proto'}"]
        files = sorted(str(path.relative_to(PROTO)) for path in PROTO.glob("tetrion/v1/*.proto"))
        assert protoc.main(["protoc", *include, f"--descriptor_set_out={file.name}", "--include_imports", *files]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(Path(file.name).read_bytes())


_files = _described().file
_pool = descriptor_pool.DescriptorPool()
for _file in _files:
    _pool.Add(_file)
CLASSES = message_factory.GetMessageClassesForFiles([_file.name for _file in _files], _pool)
for _file in _files:
    for _message in _file.message_type:
        globals()[_message.name] = CLASSES[f"{_file.package}.{_message.name}"]
    for _enum in _file.enum_type:
        globals().update({_value.name: _value.number for _value in _enum.value})


def read(message):
    """A message of the package, as protobuf reads it."""
    return CLASSES[message.NAME].FromString(message.encode())


def tensor(array):
    """An array as a tensor."""
    return read(from_numpy(array))
