// A session over one long call: less work per message, and requests that are sent ahead. Browsers cannot stream requests.
//
// A stream counts its numbered requests when it sends them. If the connection breaks, it opens another call and sends the requests
// without an answer once more; the server keeps only its last answer, so at most one of several lost answers comes back.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import { TetrionError, unreadable } from "./errors.js";
import { StepStreamRequestSchema, type StepStreamResponse } from "./protocol.js";
import type { Status } from "./gen/google/rpc/status_pb.js";
import { type AnswerOf, type Kind, type Link, NUMBERED, type RequestOf, unlessAborted } from "./link.js";
import type { Waiting } from "./patience.js";
import { type Call, checkMessage } from "./requests.js";
import { EnvCalls, type Session, linkOf } from "./session.js";

type Request = MessageInitShape<typeof StepStreamRequestSchema>;

/** A request without an answer. */
interface Sent {
  readonly kind: Kind;
  readonly message: Request;
  /** Number of the request; 0 if it changes nothing. */
  readonly number: bigint;
  /** Number of the last call before this one that changes the session. */
  readonly after: bigint;
  /** Whether it was sent more than once. */
  isRepeated: boolean;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: TetrionError) => void;
}

/**
 * The calls of a session over one long call. A call that you do not await is sent ahead: a step of one half of the environments while
 * you choose actions for the other, or the placements after a step. Answers come in the order of the calls. If a call is refused,
 * later calls that change the session fail too, with `SEQUENCE_MISMATCH`.
 *
 * Await the calls of the stream before you call the session itself. A `signal` ends only the wait for an answer.
 */
export class StepStream extends EnvCalls {
  private readonly link: Link;
  /** The oldest first. */
  private readonly unanswered: Sent[] = [];
  private requests = new Queue<Request>();
  private reading: Promise<void> | undefined;
  private isClosed = false;

  /** Opens a stream of a session. The session needs the transport `grpc`. */
  constructor(session: Session) {
    super(session.description);
    this.link = linkOf(session);
  }

  protected async call<K extends Kind>(kind: K, request: RequestOf<K>, { signal }: Call): Promise<AnswerOf<K>> {
    // Without a pause if possible, so that a call is on its way when it returns.
    if (this.link.isUnsure) {
      await this.link.settle();
    }
    if (this.isClosed) {
      throw TetrionError.of(new ConnectError("the stream was closed", Code.Canceled));
    }
    const number = NUMBERED.has(kind) ? this.link.sequenceNumber + 1n : 0n;
    const message = { request: { case: kind, value: this.link.addressed(kind, request, number) } } as Request;
    checkMessage(StepStreamRequestSchema, message);
    const after = this.link.sequenceNumber;
    this.link.sequenceNumber = number || after;
    const answer = new Promise<AnswerOf<K>>((resolve, reject) => this.unanswered.push({ kind, message, number, after, isRepeated: false, resolve, reject }));
    this.requests.push(message);
    this.reading ??= this.read();
    return await unlessAborted(answer, signal);
  }

  /** Reads answers until the call ends, and opens it again if it breaks while requests wait. */
  private async read(): Promise<void> {
    let waiting: Waiting | undefined;
    for (;;) {
      try {
        for await (const response of this.link.environments.stepStream(this.requests, this.link.options({}))) {
          waiting = undefined;
          this.settle(response);
        }
        throw new ConnectError("the server ended the stream", Code.Unavailable);
      } catch (thrown) {
        this.requests.end();
        const error = TetrionError.of(thrown);
        try {
          if (this.unanswered.length > 0) {
            waiting ??= this.link.patience.begin();
            await waiting.wait(error);
          }
        } catch {
          this.fail(error);
        }
        this.requests = new Queue();
        if (this.unanswered.length === 0) {
          this.reading = undefined; // the next call opens the stream again
          return;
        }
        for (const sent of this.unanswered) {
          sent.isRepeated = true;
          this.requests.push(sent.message);
        }
        if (this.isClosed) {
          this.requests.end();
        }
      }
    }
  }

  /** Hands an answer to the oldest request. */
  private settle({ response }: StepStreamResponse): void {
    const [sent] = this.unanswered;
    if (sent === undefined) {
      throw unreadable("the stream has an answer to no request");
    }
    const { kind, number, after, isRepeated, resolve, reject } = sent;
    if (response.case !== kind && response.case !== "error") {
      throw unreadable(`the answer to ${kind} is one to ${response.case}`);
    }
    this.unanswered.shift();
    if (response.case === "error") {
      const error = errorOf(response.value);
      if (number > 0n && error.reason !== "SEQUENCE_MISMATCH") {
        this.link.sequenceNumber = number - 1n; // it did not happen, so the next call gets its number
      }
      reject(error);
    } else if ((number > 0n || isRepeated) && response.value.sequenceNumber !== (number || after)) {
      reject(unreadable(`the answer to call ${number || after} is one to call ${response.value.sequenceNumber}`));
    } else {
      resolve(response.value as never);
    }
  }

  /** Fails all requests. The server may have done them. */
  private fail(error: TetrionError): void {
    this.link.isUnsure = true;
    for (const { reject } of this.unanswered.splice(0)) {
      reject(error);
    }
  }

  /** Ends the stream after the answers to what was sent. The session stays. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.requests.end();
    await this.reading;
  }

  /** Ends the stream, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The error of a request of a stream. */
function errorOf({ code, message, details }: Status): TetrionError {
  const error = new ConnectError(message, code);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value }));
  return TetrionError.of(error);
}

/** Values that are iterated over as they come. */
class Queue<Value> implements AsyncIterable<Value> {
  private readonly values: Value[] = [];
  private isEnded = false;
  private wake: () => void = () => undefined;

  push(value: Value): void {
    this.values.push(value);
    this.wake();
  }

  end(): void {
    this.isEnded = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value> {
    for (;;) {
      yield* this.values.splice(0);
      if (this.values.length === 0) {
        if (this.isEnded) {
          return;
        }
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }
}
