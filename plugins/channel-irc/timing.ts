/** Times of an account, in milliseconds. Tests shorten them. */
export interface IrcTiming {
  connectMs: number;
  /** From the first line to the welcome. */
  registerMs: number;
  /** Silence after which the server is asked whether it is there, and the time it has to answer. */
  pingMs: number;
  pongMs: number;
  /** Longest time from the call to the last line of a message, those before it included: the host gives a call 60 s, and may not take one for lost that goes out later. */
  sendMs: number;
  /** Time the server has to confirm that it has read a message. */
  confirmMs: number;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** How often the wanted nick and rooms that could not be joined are tried again. */
  againMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
}

/** Times of a release. */
export const TIMING: IrcTiming = {
  connectMs: 20_000,
  registerMs: 60_000,
  pingMs: 30_000,
  pongMs: 20_000,
  sendMs: 40_000,
  confirmMs: 20_000,
  reconnectMs: 1_000,
  againMs: 60_000,
  offerMs: 1_000,
};
