// Options that all calls share.

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of calls on environments of a session. */
export interface EnvOptions extends CallOptions {
  /** The environments of the call, in this order; undefined means all. An empty list is refused. */
  readonly envIds?: readonly number[] | undefined;
}
