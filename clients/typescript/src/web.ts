// The transport for browsers: gRPC-Web over `fetch`, by HTTP/1.1 or HTTP/2.

import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import type { TransportFactory } from "./client.js";

/** Makes a gRPC-Web transport. All calls work except `StepStream`, because browsers cannot stream requests. */
export const grpcWeb: TransportFactory = (options) => createGrpcWebTransport({ ...options, fetch: bounded(options.readMaxBytes) });

/** A `fetch` that fails at the first message above the size limit, before Connect allocates memory for it. */
function bounded(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    return response.body === null ? response : new Response(response.body.pipeThrough(envelopes(maxBytes)), response);
  };
}

/** Passes messages through. Each has a prefix of one byte of flags and four bytes of length. The browser has already decompressed them. */
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
