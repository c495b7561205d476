// A wrapper for every call on any transport: it checks the request and turns errors into a `TetrionError`. Closed, it ends all calls.

import { Code, ConnectError, type Transport } from "@connectrpc/connect";

import { TetrionError } from "./errors.js";
import { checkMessage } from "./requests.js";

/** A transport that can be closed: that ends its calls and its connection. */
export interface ClosableTransport extends Transport {
  close?(): void;
}

/**
 * A transport that sends only valid requests. Every failure is a `TetrionError`: a refusal by the server, a lost connection, an
 * aborted signal.
 */
export function guarded(transport: ClosableTransport): Required<ClosableTransport> {
  const calls = new Set<AbortController>();
  let isClosed = false;
  /** Begins a call that ends with the signal, or when the transport is closed. */
  const begin = (signal: AbortSignal | undefined): { signal: AbortSignal; end: () => void } => {
    const controller = new AbortController();
    const abort = () => controller.abort(signal!.reason);
    if (isClosed) {
      throw closedError();
    } else if (signal?.aborted) {
      abort();
    }
    calls.add(controller);
    signal?.addEventListener("abort", abort);
    const end = () => {
      calls.delete(controller);
      signal?.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, end };
  };
  return {
    async unary(method, signal, timeoutMs, header, request, contextValues) {
      let call: ReturnType<typeof begin> | undefined;
      try {
        checkMessage(method.input, request);
        call = begin(signal);
        return await transport.unary(method, call.signal, timeoutMs, header, request, contextValues);
      } catch (thrown) {
        throw failure(thrown, call?.signal);
      } finally {
        call?.end();
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
      let call: ReturnType<typeof begin> | undefined;
      const failed = (thrown: unknown) => failure(refusal ?? thrown, call?.signal);
      try {
        call = begin(signal);
        const response = await transport.stream(method, call.signal, timeoutMs, header, checked(), contextValues);
        return { ...response, message: received(response.message, failed, call.end) };
      } catch (thrown) {
        call?.end();
        throw failed(thrown);
      }
    },
    close() {
      isClosed = true;
      calls.forEach((call) => call.abort(closedError()));
      transport.close?.();
    },
  };
}

function closedError(): ConnectError {
  return new ConnectError("the client was closed", Code.Canceled);
}

function failure(thrown: unknown, signal: AbortSignal | undefined): TetrionError {
  const { code, rawMessage, metadata, details } = ConnectError.from(thrown);
  // Errors that the server sends have details.
  const isOwn = details.length === 0;
  if (isOwn && code === Code.ResourceExhausted) {
    return TetrionError.of(new ConnectError(`${rawMessage}; connect() takes a larger maxResponseBytes`, code, metadata));
  } else if (isOwn && code === Code.Canceled && signal?.aborted === false) {
    // Node cancels the streams of a connection that breaks.
    return TetrionError.of(new ConnectError(rawMessage, Code.Unavailable, metadata));
  }
  return TetrionError.of(thrown);
}

async function* received<T>(messages: AsyncIterable<T>, failed: (thrown: unknown) => TetrionError, end: () => void): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw failed(thrown);
  } finally {
    end();
  }
}
