// The transport for pages: gRPC-Web over `fetch`, HTTP/1.1 or HTTP/2 as the browser likes.

import { createGrpcWebTransport } from "@connectrpc/connect-web";

import type { TransportFactory } from "./server.js";

/** Unary calls and streams from the server work; `StepStream` does not, since browsers cannot stream requests. */
export const grpcWeb: TransportFactory = (options) => createGrpcWebTransport(options);
