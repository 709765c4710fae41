import { type Channel, type ChannelLogin, type LoginStep, messageOf, type PluginContext, settledWithin, withLimit } from "svc/sdk";
import { messagingErrors } from "../errors.ts";
import { clean, secretsOf } from "./clean.ts";

/** Steps of one sign-in; a QR code that is renewed every 20 s reaches it after half an hour. */
const MAX_STEPS = 100;
const MAX_TEXT_CHARS = 4_096;
/** Time for a channel to end a sign-in after its signal; then it is left to itself. */
const STOP_MS = 5_000;
const LOGOUT_MS = 60_000;
/** A name of an account, as `channels.<id>.accounts` has them. */
const MAX_ACCOUNT_CHARS = 256;

/** A step that asks the person for something. */
export type ShownStep = Exclude<LoginStep, { kind: "done" }>;
export type LoginEnd = Extract<LoginStep, { kind: "done" }>;

interface LoginRun {
  timeoutMs: number;
  /** Aborts when the caller has left. */
  signal: AbortSignal;
  /** Called once the sign-in has begun. */
  begun(): void;
  onStep(step: ShownStep): void;
}

/** Sign-ins of accounts, one at a time for each. What a channel says in their course is checked before anybody sees it, and none of it is logged. */
export class Logins {
  readonly #ctx: Pick<PluginContext, "snapshot" | "logger" | "signal">;
  readonly #underWay = new Map<string, AbortController>();

  constructor(ctx: Pick<PluginContext, "snapshot" | "logger" | "signal">) {
    this.#ctx = ctx;
  }

  /**
   * Signs an account in. Resolves with the last step.
   * @throws {SvcError} `login-not-supported`, `unknown-account`, `login-under-way`, `login-failed`
   */
  async run(channel: Channel, accountId: string, { timeoutMs, signal, begun, onStep }: LoginRun): Promise<LoginEnd> {
    const about = { channel: channel.id, account: accountId };
    if (!channel.login) throw messagingErrors.loginNotSupported(about);
    this.#checkAccount(channel, accountId);
    const key = keyOf(channel, accountId);
    if (this.#underWay.has(key)) throw messagingErrors.loginUnderWay(about);
    const ending = new AbortController();
    this.#underWay.set(key, ending);
    const late = AbortSignal.timeout(timeoutMs);
    const ended = AbortSignal.any([signal, this.#ctx.signal, ending.signal, late]);
    this.#ctx.logger.info(`channel ${channel.id}, account ${accountId}: a sign-in begins`);
    try {
      begun();
      const end = await follow(channel.login(this.#request(channel, accountId, ended)), { signal: ended, onStep });
      this.#ctx.logger.info(`channel ${channel.id}, account ${accountId}: signed in`);
      return end;
    } catch (error) {
      const reason = late.aborted ? `nobody has finished it within ${timeoutMs / 1_000} s` : this.#shown(error, channel, accountId);
      this.#ctx.logger.warn(`channel ${channel.id}, account ${accountId}: a sign-in has failed`, { reason });
      throw messagingErrors.loginFailed({ ...about, reason }, { cause: error });
    } finally {
      ending.abort();
      this.#underWay.delete(key);
    }
  }

  /**
   * Clears what a sign-in has stored; one that is under way ends. The account has been stopped.
   * @returns false where nothing was stored
   * @throws {SvcError} `unknown-account`, `logout-failed`
   */
  async clear(channel: Channel, accountId: string): Promise<boolean> {
    this.#checkAccount(channel, accountId);
    this.#underWay.get(keyOf(channel, accountId))?.abort(new Error("the account is being signed out"));
    if (!channel.logout) return false;
    const signal = AbortSignal.any([this.#ctx.signal, AbortSignal.timeout(LOGOUT_MS)]);
    const late = (): never => {
      throw new Error(`no answer within ${LOGOUT_MS / 1_000} s`);
    };
    try {
      const work = (async () => channel.logout?.(this.#request(channel, accountId, signal)))();
      return (await withLimit(work, LOGOUT_MS, late)) === true;
    } catch (error) {
      throw messagingErrors.logoutFailed(
        { channel: channel.id, account: accountId, reason: this.#shown(error, channel, accountId) },
        { cause: error },
      );
    }
  }

  /** A fault of a channel without the secrets of its account. */
  #shown(error: unknown, channel: Channel, accountId: string): string {
    let secrets: string[] = [];
    try {
      secrets = secretsOf(channel.config.resolve(this.#ctx.snapshot(), accountId));
    } catch {
      // An account that lacks keys has none to show.
    }
    return clean(messageOf(error), secrets);
  }

  /** A section without accounts may get its first one by signing in. */
  #checkAccount(channel: Channel, accountId: string): void {
    const known = channel.config.list(this.#ctx.snapshot());
    const isKnown = known.length === 0 ? accountId === "default" : known.includes(accountId);
    if (!isKnown || accountId.length > MAX_ACCOUNT_CHARS) throw messagingErrors.unknownAccount({ channel: channel.id, account: accountId });
  }

  #request(channel: Channel, accountId: string, signal: AbortSignal): ChannelLogin {
    return { config: this.#ctx.snapshot(), accountId, signal, logger: this.#ctx.logger.child(`${channel.id}/${accountId}`) };
  }
}

/** Reads the steps to the last one. A channel that goes on after the signal is left to itself. */
async function follow(
  steps: AsyncIterable<LoginStep>,
  { signal, onStep }: { signal: AbortSignal; onStep(step: ShownStep): void },
): Promise<LoginEnd> {
  const iterator = steps[Symbol.asyncIterator]();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  aborted.catch(() => undefined);
  try {
    for (let count = 0; count < MAX_STEPS; count++) {
      signal.throwIfAborted();
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done) throw new Error("the channel ended it without a result");
      const step = checkedStep(next.value);
      if (step.kind === "done") return step;
      onStep(step);
    }
    throw new Error(`it did not end within ${MAX_STEPS} steps`);
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (iterator.return) await settledWithin(Promise.resolve(iterator.return()), STOP_MS);
  }
}

/** @throws {Error} for anything that is no step, without showing it */
function checkedStep(step: LoginStep): LoginStep {
  const isText = (text: unknown): text is string => typeof text === "string" && text !== "" && text.length <= MAX_TEXT_CHARS;
  if (step?.kind === "qr" && isText(step.text)) return { kind: "qr", text: step.text };
  if (step?.kind === "code" && isText(step.code)) return { kind: "code", code: step.code };
  if (step?.kind === "url" && isText(step.url) && isWebAddress(step.url)) return { kind: "url", url: step.url };
  if (step?.kind === "done") {
    const { identity, note } = step;
    return { kind: "done", ...(isText(identity) ? { identity: clean(identity) } : {}), ...(isText(note) ? { note: clean(note) } : {}) };
  }
  throw new Error("the channel gave a step that is none");
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ["https:", "http:"].includes(new URL(url).protocol);
}

function keyOf({ id }: Channel, accountId: string): string {
  return JSON.stringify([id, accountId]);
}
