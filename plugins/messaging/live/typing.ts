import { type Channel, type ChannelRun, type Disposable, messageOf, type PluginContext, settledWithin } from "svc/sdk";

/** How often the indicator is sent again: platforms let it go out after five to ten seconds, or keep it until it is cleared. */
const REFRESH_MS = 6_000;
/** Longest call of a channel that is waited for; a stop of the gateway gives work under way four seconds. */
const CALL_MS = 2_000;

/** Conversation that shows somebody typing. */
export interface TypingPlace {
  channel: string;
  accountId: string;
  to: string;
}

export interface TypingDeps {
  ctx: Pick<PluginContext, "timers" | "logger">;
  /** Undefined while the account is not connected, or its platform has no such indicator. */
  target(place: TypingPlace): { channel: Channel; run: ChannelRun } | undefined;
}

interface Indicator {
  /** Runs that are at work for the conversation: the indicator is cleared with the last of them. */
  count: number;
  refreshing: Disposable;
  /** Calls go one after the other, so that the one that clears is the last. */
  calls: Promise<void>;
}

/** Shows that an agent works, for as long as one does. As many conversations as there are messages at work. */
export class TypingIndicators {
  readonly #deps: TypingDeps;
  readonly #shown = new Map<string, Indicator>();

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  /** Shows it until the returned function is called; that one resolves when it was cleared, or after two seconds. */
  show(place: TypingPlace): () => Promise<void> {
    const key = JSON.stringify([place.channel, place.accountId, place.to]);
    const indicator = this.#shown.get(key) ?? this.#begin(key, place);
    indicator.count += 1;
    let ended: Promise<void> | undefined;
    return () => {
      ended ??= this.#end(key, indicator, place);
      return ended;
    };
  }

  /** Clears what an earlier process may have left, unless the conversation is at work again. */
  async clear(place: TypingPlace): Promise<void> {
    if (!this.#shown.has(JSON.stringify([place.channel, place.accountId, place.to]))) await this.#call(place, false);
  }

  #begin(key: string, place: TypingPlace): Indicator {
    const refresh = () => {
      indicator.calls = indicator.calls.then(() => (indicator.count > 0 ? this.#call(place, true) : undefined));
    };
    const refreshing = this.#deps.ctx.timers.setInterval(refresh, REFRESH_MS);
    const indicator: Indicator = { count: 0, refreshing, calls: this.#call(place, true) };
    this.#shown.set(key, indicator);
    return indicator;
  }

  async #end(key: string, indicator: Indicator, place: TypingPlace): Promise<void> {
    indicator.count -= 1;
    if (indicator.count > 0) return;
    void indicator.refreshing.dispose();
    this.#shown.delete(key);
    await indicator.calls;
    // Somebody else has begun meanwhile: theirs stays.
    if (!this.#shown.has(key)) await this.#call(place, false);
  }

  /** Never rejects: nothing depends on it. */
  async #call(place: TypingPlace, on: boolean): Promise<void> {
    const target = this.#deps.target(place);
    if (!target) return;
    const work = (async () => target.channel.typing?.(place.to, on, target.run))().catch((error: unknown) => {
      this.#deps.ctx.logger.debug(`${place.channel}: the typing indicator was not sent`, { on, error: messageOf(error) });
    });
    await settledWithin(work, CALL_MS);
  }
}
