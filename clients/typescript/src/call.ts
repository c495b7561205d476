// What calls have in common; each adds options of its own. Knows no call.

/** What any call takes. */
export interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal;
}
