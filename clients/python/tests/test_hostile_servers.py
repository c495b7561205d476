"""Servers that attack their clients: whatever they send, a call ends with a `TetrionError` that can be printed."""

import pickle
import random
import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2

import tetrion
from tetrion._pb import messages as pb
from tetrion._sessions.session import Session
from tetrion._transport.versions import PROTOCOL_REVISION, RULES_VERSION

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x00\u202e\u2066\x7f"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
KEY = "grpc-status-details-bin"


class Hostile(grpc.GenericRpcHandler):
    """A server that answers every call with bytes.

    Attributes:
        messages: The answers to a call, whatever was asked.
        status: The number of the code, its message and the bytes of its details; None: success.
    """

    def __init__(self):
        self.messages, self.status = [], None
        self._server = grpc.server(ThreadPoolExecutor(4), handlers=[self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, details):
        return grpc.stream_stream_rpc_method_handler(self._answers)

    def _answers(self, requests, context):
        next(requests)
        yield from self.messages
        if self.status is not None:
            code, message, details = self.status
            context.set_trailing_metadata(((KEY, details),))
            context.set_details(message)
            context.set_code(code)

    def close(self):
        self._server.stop(None)


@pytest.fixture(scope="module")
def server_process():
    hostile = Hostile()
    yield hostile
    hostile.close()


@pytest.fixture
def hostile(server_process):
    server_process.messages, server_process.status = [], None
    return server_process


@pytest.fixture
def victim(hostile):
    with tetrion.Client(hostile.address, timeout=2, patience=0) as client:
        yield client


def check(error):
    """An error that programs can catch, print, pickle and wait for."""
    assert isinstance(error, tetrion.TetrionError)
    texts = [str(error), error.details, error.code, error.reason, error.request_id]
    texts += [text for pair in [*error.metadata.items(), *error.violations] for text in pair]
    for text in texts:
        assert not OBEYED.search(text), repr(text)
        text.encode()
    assert error.retry_after is None or 0 <= error.retry_after <= 1e9
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


def failure(victim):
    """The error of a call with one answer, and of a stream."""
    with pytest.raises(tetrion.TetrionError) as caught:
        victim.server_info()
    error = check(caught.value)
    connection = victim._connection
    for stream in (
        lambda: connection._transport.stream("EvaluatePolicies", pb.EvaluatePoliciesRequest(), 2, ()),
        lambda: connection._transport.stream("WatchSession", pb.WatchSessionRequest(), 2, ()),
        lambda: exchange(connection),
    ):
        with pytest.raises(tetrion.TetrionError) as caught:
            list(stream())
        assert str(check(caught.value)) in (str(error), *error.args) or isinstance(error, tetrion.errors.ForeignServerError)
    return error


def exchange(connection):
    """A call over a stream of a session that the server never made."""
    with tetrion.Client() as client, client.create_session() as session:
        description = session._message
    yield Session(connection, description).stream().reset()


def packed(message, data=None):
    """A detail of a status."""
    detail = AnyMessage()
    detail.Pack(message)
    if data is not None:
        detail.value = data
    return detail


def status_of(*details, code=code_pb2.RESOURCE_EXHAUSTED):
    return status_pb2.Status(code=code, message="no", details=details).SerializeToString()


RETRY = error_details_pb2.RetryInfo


@pytest.mark.parametrize(
    ("details", "retry_after"),
    [
        (b"\xff\xff\xff", None),
        (status_of(packed(RETRY(), b"\xff\xff")), None),
        (status_of(packed(error_details_pb2.ErrorInfo(), b"\x0a\x02\xff\xfe")), None),
        (status_of(packed(RETRY(retry_delay=Duration(seconds=2**63 - 1)))), None),
        (status_of(packed(RETRY(retry_delay=Duration(seconds=-(2**63), nanos=-(2**31))))), None),
        (status_of(packed(RETRY(retry_delay=Duration(seconds=-1)))), None),
        (status_of(packed(RETRY(retry_delay=Duration(seconds=1, nanos=2**31 - 1)))), 1 + (2**31 - 1) / 1e9),
        (status_of(packed(RETRY(retry_delay=Duration(seconds=2, nanos=500_000_000)))), 2.5),
        (status_of(AnyMessage(type_url="type.googleapis.com/no.such.Type", value=b"\xff")), None),
        (status_of(AnyMessage(type_url=ESCAPES)), None),
    ],
)
def test_details_of_a_failure_that_cannot_be_read(hostile, victim, details, retry_after):
    hostile.status = (grpc.StatusCode.RESOURCE_EXHAUSTED, "no", details)
    error = failure(victim)
    assert (error.code, error.details, error.retry_after) == ("RESOURCE_EXHAUSTED", "no", retry_after)


def test_escapes_in_every_text_of_a_failure(hostile, victim):
    info = error_details_pb2.ErrorInfo(reason="R" + ESCAPES, metadata={ESCAPES: ESCAPES})
    wrong = error_details_pb2.BadRequest()
    wrong.field_violations.add(field=ESCAPES, description="two\n\tlines" + ESCAPES)
    known = error_details_pb2.RequestInfo(request_id=ESCAPES)
    details = status_of(packed(info), packed(wrong), packed(known), code=code_pb2.INVALID_ARGUMENT)
    hostile.status = (grpc.StatusCode.INVALID_ARGUMENT, "rows\n" + ESCAPES, details)
    error = failure(victim)
    shown = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u000d\u0000\u202e\u2066\u007f"
    assert error.details == "rows\n" + shown
    assert (error.reason, error.request_id, error.metadata) == ("R" + shown, shown, {shown: shown})
    assert error.violations == [(shown, "two\n\tlines" + shown)]


def test_random_details_of_failures(hostile, victim):
    """Bytes that a fuzzer would try: parts of a status, cut, doubled and changed."""
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    whole = status_of(
        packed(error_details_pb2.ErrorInfo(reason="ENV_LIMIT", metadata={"a": "b"})),
        packed(RETRY(retry_delay=Duration(seconds=3))),
        packed(error_details_pb2.RequestInfo(request_id="id")),
    )
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            place = dice.randrange(len(data) + 1)
            kind = dice.randrange(3)
            if kind == 0:
                data[place:place] = dice.randbytes(dice.randrange(1, 9))
            elif kind == 1:
                del data[place : place + dice.randrange(1, 20)]
            elif place < len(data):
                data[place] = dice.randrange(256)
        hostile.status = (dice.choice(list(grpc.StatusCode)[1:]), "no" + dice.choice(ESCAPES), bytes(data))
        failure(victim)


@pytest.mark.parametrize("number", [77, -1, 2**31 - 1, 0])
def test_codes_that_there_are_not_in_a_stream(hostile, victim, number):
    status = pb.Status.decode(status_pb2.Status(code=number, message=ESCAPES).SerializeToString())
    hostile.messages = [pb.StepStreamResponse(error=status).encode()]
    with pytest.raises(tetrion.TetrionError) as caught:
        list(exchange(victim._connection))
    assert check(caught.value).code == "UNKNOWN"


def info():
    return pb.GetServerInfoResponse(
        server_version="1", rules_version=RULES_VERSION, protocol_revision=PROTOCOL_REVISION
    ).encode()


def test_calls_with_one_answer_have_one(hostile, victim):
    hostile.messages = [info()]
    assert victim.server_info().server_version == "1"
    hostile.messages = []
    with pytest.raises(tetrion.errors.InvalidAnswerError):
        victim.server_info()
    hostile.messages = [info(), info()]
    with pytest.raises((tetrion.errors.InvalidAnswerError, tetrion.errors.DeadlineExceededError)) as caught:
        victim.server_info()
    check(caught.value)
    # A failure after an answer is a failure.
    hostile.messages, hostile.status = [info()], (grpc.StatusCode.ABORTED, "no", b"")
    with pytest.raises(tetrion.TetrionError, match="ABORTED"):
        victim.server_info()


def test_a_server_with_escapes_in_its_version(hostile, victim):
    answer = pb.GetServerInfoResponse(server_version=ESCAPES, rules_version=ESCAPES, protocol_revision=PROTOCOL_REVISION)
    hostile.messages = [answer.encode()]
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        assert victim.server_info().rules_version == ESCAPES
    assert len(met) == 1
    assert not OBEYED.search(str(met[0].message))
    answer.protocol_revision = 0
    hostile.messages = [answer.encode()]
    victim._connection._info = None
    with pytest.raises(tetrion.errors.IncompatibleServerError) as caught:
        victim.server_info()
    check(caught.value)
