"""A game with stubs alone: `PYTHONPATH=gen python raw_stubs.py host:port`. It always takes the first allowed placement."""

import sys

import grpc
import numpy as np
from tetrion.v1 import environment_service_pb2 as pb
from tetrion.v1.environment_service_pb2_grpc import EnvironmentServiceStub
from tetrion.v1.seeding_pb2 import Seeding
from tetrion.v1.tensor_pb2 import DATA_TYPE_INT32, Tensor

server = EnvironmentServiceStub(grpc.insecure_channel(sys.argv[1]))
config = pb.SessionConfig(seeding=Seeding(seed=42), action_mask_format=pb.ACTION_MASK_FORMAT_BYTES)
session = server.CreateSession(pb.CreateSessionRequest(config=config)).session
answer = server.Reset(pb.ResetRequest(session=session.name))
ended = False
while not ended:
    action = np.frombuffer(answer.action_mask.data, np.bool_).argmax()
    actions = Tensor(dtype=DATA_TYPE_INT32, shape=[1], data=np.int32(action).tobytes())
    answer = server.Step(pb.StepRequest(session=session.name, actions=actions))
    ended = answer.terminated.data == b"\1"
infos = {spec.name: tensor.data for spec, tensor in zip(session.info_specs, answer.infos, strict=True)}
print(server.Render(pb.RenderRequest(session=session.name, format=pb.RENDER_FORMAT_ASCII)).frames[0])
print(int.from_bytes(infos["pieces"], "little"), "pieces")
server.DeleteSession(pb.DeleteSessionRequest(name=session.name))
