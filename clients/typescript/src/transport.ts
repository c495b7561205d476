// A wrapper for every call on any transport: it checks the request and turns errors into a `TetrionError`.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";

import { TetrionError } from "./errors.js";
import { checkMessage } from "./requests.js";

/**
 * A transport that sends only valid requests. Every failure is a `TetrionError`: a refusal by the server, a lost connection, an
 * aborted signal.
 */
export function guarded({ unary, stream }: Transport): Transport {
  return {
    async unary(method, signal, timeoutMs, header, request, contextValues) {
      try {
        checkMessage(method.input, request);
        return await unary(method, signal, timeoutMs, header, request, contextValues);
      } catch (thrown) {
        throw failure(thrown, signal);
      }
    },
    async stream(method, signal, timeoutMs, header, requests, contextValues) {
      // A transport wraps an error from the request iterator in another error.
      let refusal: unknown;
      async function* checked(): typeof requests {
        for await (const request of requests) {
          try {
            checkMessage(method.input, request);
          } catch (thrown) {
            refusal = thrown;
            throw thrown;
          }
          yield request;
        }
      }
      const failed = (thrown: unknown) => failure(refusal ?? thrown, signal);
      try {
        const response = await stream(method, signal, timeoutMs, header, checked(), contextValues);
        return { ...response, message: received(response.message, failed) };
      } catch (thrown) {
        throw failed(thrown);
      }
    },
  };
}

function failure(thrown: unknown, signal: AbortSignal | undefined): TetrionError {
  const { code, rawMessage, metadata, details } = ConnectError.from(thrown);
  // Errors that the server sends have details.
  const isOwn = details.length === 0;
  if (isOwn && code === Code.ResourceExhausted) {
    return TetrionError.of(new ConnectError(`${rawMessage}; connect() takes a larger maxResponseBytes`, code, metadata));
  } else if (isOwn && code === Code.Canceled && !signal?.aborted) {
    // Node cancels the streams of a connection that breaks.
    return TetrionError.of(new ConnectError(rawMessage, Code.Unavailable, metadata));
  }
  return TetrionError.of(thrown);
}

async function* received<T>(messages: AsyncIterable<T>, failed: (thrown: unknown) => TetrionError): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw failed(thrown);
  }
}
