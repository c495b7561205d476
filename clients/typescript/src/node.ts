// The transport for Node: gRPC over HTTP/2, without TLS if the address begins with `http://`.

import { createGrpcTransport } from "@connectrpc/connect-node";

import type { TransportFactory } from "./client.js";

/** Makes a gRPC transport. Streams work in both directions, an idle connection does not keep the process alive, and answers are not compressed. */
export const grpc: TransportFactory = (options) => createGrpcTransport({ ...options, acceptCompression: [] });
