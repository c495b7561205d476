// Options that all calls share.

/** Options of every call. */
export interface CallOptions {
  /** Ends the call. One that changes a session and has already been sent still happens. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of calls on environments of a session. */
export interface EnvOptions extends CallOptions {
  /** The environments of the call, in this order; undefined means all, an empty list none: an answer without rows. */
  readonly envIds?: readonly number[] | undefined;
}
