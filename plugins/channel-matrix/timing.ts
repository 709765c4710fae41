/** Times of an account, in milliseconds. Tests shorten them. */
export interface MatrixTiming {
  /** How long the homeserver holds a request for new events before it answers that there are none. */
  pollMs: number;
  /** Time of any other call. */
  callMs: number;
  /** Time to send or fetch a file. */
  fileMs: number;
  /** First wait before the account connects again; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
  /** How long the homeserver shows that the account types, unless it is told otherwise. */
  typingMs: number;
}

/** Times of a release: a send may not take longer than the 60 s of the host. */
export const TIMING: MatrixTiming = {
  pollMs: 30_000,
  callMs: 20_000,
  fileMs: 50_000,
  reconnectMs: 1_000,
  offerMs: 1_000,
  typingMs: 10_000,
};
