import type { Clock, InboundEvent } from "svc/sdk";
import { Recent } from "./recent.ts";

/** Time in which what comes back under the id of a receipt is the account's own message. */
const ECHO_MS = 30_000;
/** Messages of one program in a conversation within the window after which it is not answered. */
const BOT_EVENTS = 20;
const BOT_WINDOW_MS = 60_000;
const BOT_SILENCE_MS = 60_000;
/** The same drop is logged again after this time. */
const LOG_AGAIN_MS = 3_600_000;

/** Memory of one account's traffic, to tell its own messages and endless talks between programs. Bounded, and lost at a restart. */
export class Guards {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #sent = new Recent<number>();
  readonly #bots = new Recent<{ times: number[]; silentUntil: number }>();
  readonly #logged = new Recent<number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The platform has taken a message of the account under this id. */
  noteSent(messageId: string): void {
    this.#sent.set(messageId, this.#clock.monotonic());
  }

  /** True for an id that the account has sent under in the last 30 s. */
  isEcho(messageId: string): boolean {
    const at = this.#sent.get(messageId);
    return at !== undefined && this.#clock.monotonic() - at <= ECHO_MS;
  }

  /** True for an id that the account has sent under, as far as it is remembered. */
  hasSent(messageId: string): boolean {
    return this.#sent.get(messageId) !== undefined;
  }

  /** Counts a message of another program; true when it and the agent have answered each other too often and are to be silent for a while. */
  isBotLoop({ peer, sender }: Pick<InboundEvent, "peer" | "sender">): boolean {
    if (sender.isBot !== true) return false;
    const key = JSON.stringify([peer.id, sender.id]);
    const now = this.#clock.monotonic();
    const seen = this.#bots.get(key) ?? { times: [], silentUntil: Number.NEGATIVE_INFINITY };
    const times = [...seen.times.filter((at) => now - at < BOT_WINDOW_MS), now].slice(-BOT_EVENTS - 1);
    const isTooMany = times.length > BOT_EVENTS;
    const silentUntil = isTooMany ? now + BOT_SILENCE_MS : seen.silentUntil;
    this.#bots.set(key, { times: isTooMany ? [] : times, silentUntil });
    return isTooMany || now < silentUntil;
  }

  /** True once for each conversation and reason, and again after an hour: a stranger does not fill the log. */
  shouldLog(conversation: string, reason: string): boolean {
    const key = JSON.stringify([conversation, reason]);
    const now = this.#clock.monotonic();
    const last = this.#logged.get(key);
    if (last !== undefined && now - last < LOG_AGAIN_MS) return false;
    this.#logged.set(key, now);
    return true;
  }
}
