/** Times of an account, in milliseconds. Tests shorten them. */
export interface SlackTiming {
  /** Time of a call of the Web API, and to open a link. */
  callMs: number;
  /** Time to fetch or upload a file. */
  fileMs: number;
  /** Time from the beginning of a send until all its files are uploaded; one more call shares them. */
  uploadsMs: number;
  /** Time to look up the name of a person or a channel; a message is delivered without it after that. */
  nameMs: number;
  /** Time without an answer to a ping after which a link counts as dead. */
  pingMs: number;
  /** Time that Slack has to end a link that is closed, before its socket is destroyed. */
  closeMs: number;
  /** First wait before the account connects again; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** A link that Slack replaces after less than this counts as a failed one, so that no loop arises. */
  steadyMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
  /** Longest time that a request of Slack is kept waiting; Slack gives up after 3 s and sends it again. */
  answerMs: number;
}

/** Times of a release: a send may not take longer than the 60 s of the host. */
export const TIMING: SlackTiming = {
  callMs: 15_000,
  fileMs: 25_000,
  uploadsMs: 40_000,
  nameMs: 1_500,
  pingMs: 5_000,
  closeMs: 1_000,
  reconnectMs: 1_000,
  steadyMs: 5_000,
  offerMs: 1_000,
  answerMs: 2_800,
};
