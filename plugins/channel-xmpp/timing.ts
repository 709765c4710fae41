/** Times of an account, in milliseconds. Tests shorten them. */
export interface XmppTiming {
  connectMs: number;
  /** From the first byte to an account that is bound. */
  loginMs: number;
  /** Time that rooms have to let the account in before it counts as ready. */
  joinMs: number;
  /** Silence after which the server is asked whether it is there, and the time it has to answer. */
  pingMs: number;
  pongMs: number;
  /** Longest time that a message waits for its confirmation, links that break meanwhile included: the host gives a call 60 s. */
  sendMs: number;
  /** Time the server has to confirm a message before the link is given up. */
  confirmMs: number;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** How often rooms are tried again, and asked whether the account is still in them. */
  againMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
}

/** Times of a release. */
export const TIMING: XmppTiming = {
  connectMs: 20_000,
  loginMs: 40_000,
  joinMs: 10_000,
  pingMs: 30_000,
  pongMs: 20_000,
  sendMs: 40_000,
  confirmMs: 20_000,
  reconnectMs: 1_000,
  againMs: 60_000,
  offerMs: 1_000,
};
