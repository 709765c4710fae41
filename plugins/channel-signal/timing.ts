/** Times of the link to the daemon, in ms. */
export interface SignalTiming {
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  connectMs: number;
  /** Time for an answer of the daemon: it sends over the network before it answers. */
  answerMs: number;
  /** Time for a person to scan the QR code of a new device; Signal itself waits a minute or two. */
  linkMs: number;
  /** Silence after which the daemon is asked whether it is there, and time for that answer. */
  pingMs: number;
  pongMs: number;
  /** First wait before a message that the host could not store is offered again. */
  offerMs: number;
}

export const TIMING: SignalTiming = {
  reconnectMs: 1_000,
  connectMs: 10_000,
  answerMs: 45_000,
  linkMs: 300_000,
  pingMs: 30_000,
  pongMs: 15_000,
  offerMs: 250,
};
