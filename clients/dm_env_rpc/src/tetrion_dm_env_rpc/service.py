"""The service: `dm_env_rpc.v1.Environment`, requests and answers in turn over a stream.

A request that fails gets `error` and changes nothing; the stream continues. Each stream has a thread, and there are as many
threads as there may be streams.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import tetrion
from dm_env_rpc.v1 import dm_env_rpc_pb2 as pb
from google.protobuf.message import DecodeError
from tetrion.errors import TetrionError

from tetrion_dm_env_rpc import settings
from tetrion_dm_env_rpc.errors import refusal, status, wrong_field
from tetrion_dm_env_rpc.world import World
from tetrion_dm_env_rpc.worlds import Worlds

MAX_STREAMS = 256
MAX_WORLDS = 1024
# The longest setting is a sequence of 100,000 pieces.
MAX_REQUEST_BYTES = 256 << 10

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    # A second gateway on the same port is refused, instead of getting some of the connections.
    ("grpc.so_reuseport", 0),
    # A client whose machine is gone gives its thread back.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]
_LOG = logging.getLogger("tetrion_dm_env_rpc")


@contextlib.contextmanager
def serving(
    client: tetrion.Client, listen: str, *, max_streams: int = MAX_STREAMS, max_worlds: int = MAX_WORLDS
) -> Iterator[str]:
    """Serves worlds, as sessions of the client, while the context lasts.

    Args:
        client: The client, which stays open.
        listen: `HOST:PORT`; port 0 picks a free port.
        max_streams: Most streams at a time.
        max_worlds: Most worlds at a time.

    Yields:
        The address, with the port that was picked.
    """
    worlds = Worlds(client, max_worlds)

    def process(messages: Iterator[bytes], _: grpc.ServicerContext) -> Iterator[Any]:
        stream = _Stream(worlds)
        try:
            for message in messages:
                yield stream.answer(message)
        finally:
            stream.close()

    # Requests stay bytes at first, because grpcio never forgets a stream with a message that it cannot read.
    handler: Any = grpc.stream_stream_rpc_method_handler(
        process, response_serializer=pb.EnvironmentResponse.SerializeToString
    )
    with ThreadPoolExecutor(max_streams) as threads:
        server = grpc.server(threads, options=_OPTIONS, maximum_concurrent_rpcs=max_streams)
        service = pb.DESCRIPTOR.services_by_name["Environment"].full_name
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {"Process": handler})])
        port = server.add_insecure_port(listen)
        server.start()
        try:
            yield f"{listen.rpartition(':')[0]}:{port}"
        finally:
            server.stop(grace=1).wait()


class _Stream:
    """A stream: the worlds that it has created, and the one that it has joined. Its calls have the names of requests."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        self._created: set[str] = set()
        self._joined = ""

    def answer(self, message: bytes) -> Any:
        try:
            request = pb.EnvironmentRequest.FromString(message)
            kind = request.WhichOneof("payload")
            if kind in (None, "extension"):
                raise wrong_field(
                    "payload", "is an extension, which this gateway does not support" if kind else "is required"
                )
            return pb.EnvironmentResponse(**{kind: getattr(self, f"_{kind}")(getattr(request, kind))})
        except TetrionError as error:
            refused = error
        except DecodeError as error:
            refused = refusal("INVALID_ARGUMENT", "INVALID_MESSAGE", f"the request cannot be read: {error}")
        except Exception:
            _LOG.exception("a bug")
            refused = refusal("INTERNAL", "INTERNAL", "internal error")
        return pb.EnvironmentResponse(error=status(refused))

    def close(self) -> None:
        self._leave_world()
        for name in self._created:
            self._worlds.leave(name, is_creator=True)

    def _create_world(self, request: Any) -> Any:
        name = self._worlds.create(request.settings).name
        # The others may have ended.
        self._created = self._worlds.alive({name, *self._created})
        return pb.CreateWorldResponse(world_name=name)

    def _join_world(self, request: Any) -> Any:
        settings.read(request.settings, settings.AT_JOIN)
        if self._worlds.alive({self._joined}):
            raise refusal("FAILED_PRECONDITION", "ALREADY_JOINED", f"this stream has already joined world {self._joined!r}")
        world = self._worlds.find(request.world_name, enter=True)
        self._joined = world.name
        # The previous agent may have left in the middle of an episode.
        world.reset()
        return pb.JoinWorldResponse(specs=world.specs)

    def _step(self, request: Any) -> Any:
        return self._world().step(request)

    def _reset(self, request: Any) -> Any:
        world = self._world()
        world.reset(request.settings)
        return pb.ResetResponse(specs=world.specs)

    def _reset_world(self, request: Any) -> Any:
        self._worlds.find(request.world_name).reset(request.settings, from_outside=True)
        return pb.ResetWorldResponse()

    def _leave_world(self, _: Any = None) -> Any:
        self._worlds.leave(self._joined)
        self._joined = ""
        return pb.LeaveWorldResponse()

    def _destroy_world(self, request: Any) -> Any:
        self._worlds.find(request.world_name, destroy=True).close()
        return pb.DestroyWorldResponse()

    def _world(self) -> World:
        if not self._joined:
            raise refusal("FAILED_PRECONDITION", "NOT_JOINED", "this stream has not joined a world")
        return self._worlds.find(self._joined)
