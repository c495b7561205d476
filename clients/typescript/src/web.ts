// The transport for pages: gRPC-Web over `fetch`, HTTP/1.1 or HTTP/2 as the browser likes.

import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import type { TransportFactory } from "./server.js";

/** Unary calls and streams from the server work; `StepStream` does not, since browsers cannot stream requests. */
export const grpcWeb: TransportFactory = (options) => createGrpcWebTransport({ ...options, fetch: bounded(options.readMaxBytes) });

/** A `fetch` whose answers end with an error at the first message with more bytes, which Connect would make room for. */
function bounded(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    return response.body === null ? response : new Response(response.body.pipeThrough(envelopes(maxBytes)), response);
  };
}

/** Passes messages on. Before each come a byte of flags and four of its length. The browser has decompressed them all. */
function envelopes(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let head: number[] = [];
  let rest = 0; // bytes of the message that are still to come
  return new TransformStream({
    transform(chunk, controller) {
      for (let at = 0; at < chunk.length;) {
        if (rest > 0) {
          const part = Math.min(rest, chunk.length - at);
          rest -= part;
          at += part;
        } else if (head.push(chunk[at++]!) === 5) {
          rest = head.slice(1).reduce((length, byte) => 256 * length + byte, 0);
          head = [];
          if (rest > maxBytes) {
            throw new ConnectError(`a message has ${rest} bytes, expected at most ${maxBytes}`, Code.ResourceExhausted);
          }
        }
      }
      controller.enqueue(chunk);
    },
  });
}
