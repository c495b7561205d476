// What needs Node: gRPC over HTTP/2, without TLS if the address begins with `http://`, and streams of requests.

import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";

import type { TransportFactory } from "./client.js";

export { StepStream } from "./stream.js";

/** Makes a gRPC transport. Streams work in both directions, an idle connection does not keep the process alive, and answers are not compressed. */
export const grpc: TransportFactory = (options) => {
  const sessionManager = new Http2SessionManager(options.baseUrl);
  const transport = createGrpcTransport({ ...options, sessionManager, acceptCompression: [] });
  return { ...transport, close: () => sessionManager.abort() };
};
