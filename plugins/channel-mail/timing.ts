/** Times of an account, in milliseconds. Tests shorten them. */
export interface MailTiming {
  connectMs: number;
  /** Time a server has to answer one command. */
  commandMs: number;
  /** Time a server has for the whole of one mail. */
  fetchMs: number;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** First wait before a mail is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
  /** First wait for news after mails were handled; each further one is the account's `pollIntervalMs`. */
  firstPollMs: number;
  /** Longest parsing of one mail. */
  parseMs: number;
  /** Longest time without a byte while a mail is sent: the host gives a call 60 s in all. */
  sendMs: number;
}

/** Times of a release. */
export const TIMING: MailTiming = {
  connectMs: 20_000,
  commandMs: 30_000,
  fetchMs: 120_000,
  reconnectMs: 1_000,
  offerMs: 1_000,
  firstPollMs: 2_000,
  parseMs: 20_000,
  sendMs: 40_000,
};
