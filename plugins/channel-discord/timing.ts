/** Times of an account, in milliseconds. Tests shorten them. */
export interface DiscordTiming {
  /** Time of one call of the API. */
  callMs: number;
  /** Time to send the files of a message, or to fetch one. */
  fileMs: number;
  /** Time from opening the socket to HELLO, and from there to READY or RESUMED. */
  helloMs: number;
  /** First wait before the account connects again; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
  /** Time that the host has to store a command before Discord is told to wait: it shows a failure after 3 s. */
  deferMs: number;
  /** Shortest time between two writes of the place in the stream of events. */
  progressMs: number;
  /** Time that Discord has to answer the closing of a socket before it is cut. */
  closeMs: number;
}

/** Times of a release: a send may not take longer than the 60 s of the host. */
export const TIMING: DiscordTiming = {
  callMs: 20_000,
  fileMs: 50_000,
  helloMs: 20_000,
  reconnectMs: 1_000,
  offerMs: 1_000,
  deferMs: 1_000,
  progressMs: 1_000,
  closeMs: 1_000,
};
