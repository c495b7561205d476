// The transport for programs: gRPC over HTTP/2, without encryption where the address begins with `http://`.

import { createGrpcTransport } from "@connectrpc/connect-node";

import type { TransportFactory } from "./server.js";

/** Streams in both directions work. An idle connection does not keep a program from ending. The server sends nothing compressed. */
export const grpc: TransportFactory = (options) => createGrpcTransport({ ...options, acceptCompression: [] });
