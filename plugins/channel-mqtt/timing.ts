/** Times of an account, in milliseconds. Tests shorten them. */
export interface MqttTiming {
  connectMs: number;
  /** From the first packet to the broker's answer. */
  acceptMs: number;
  /** Time the broker has to confirm a message or a subscription. */
  confirmMs: number;
  /** Silence after which the broker is asked whether it is there; half as long again ends the link. Whole seconds. */
  keepaliveMs: number;
  /** First wait before a new link; each further one is 1.8 times as long, 60 s at most. */
  reconnectMs: number;
  /** First wait before a message is offered to the host again; each further one is twice as long, 5 s at most. */
  offerMs: number;
  /** Time for the last packets to leave when the link is closed. */
  closeMs: number;
}

/** Times of a release. */
export const TIMING: MqttTiming = {
  connectMs: 20_000,
  acceptMs: 20_000,
  confirmMs: 20_000,
  keepaliveMs: 30_000,
  reconnectMs: 1_000,
  offerMs: 1_000,
  closeMs: 1_000,
};
