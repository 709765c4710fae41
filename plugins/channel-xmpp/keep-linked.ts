import { type ChannelRun, messageOf, sleep } from "svc/sdk";
import { secretValues, type XmppAccount } from "./accounts.ts";
import { Inbox } from "./inbox.ts";
import { type Login, logIn } from "./login.ts";
import { AccountRefused } from "./refusals.ts";
import { Session } from "./session.ts";
import type { XmppStream } from "./stream.ts";
import type { XmppTiming } from "./timing.ts";

const MAX_WAIT_MS = 60_000;
/** A link that held this long starts the waits over. */
const STEADY_MS = 60_000;

interface KeepOptions {
  timing: XmppTiming;
  /** [0, 1) */
  random(): number;
  /** Called with the session that messages are sent over, and with undefined when there is none. */
  hold(session: Session | undefined): void;
}

/** Links an account, and links it again until it is stopped; refused credentials, and another client in its place, end it. */
export async function keepLinked(run: ChannelRun<XmppAccount>, { timing, random, hold }: KeepOptions): Promise<void> {
  const secrets = secretValues(run.account);
  const links = new Links(run, timing);
  let attempt = 0;
  run.state({ lifecycle: "starting", connected: false });
  while (!run.signal.aborted) {
    let readyAt: number | undefined;
    const end = await links.once((session) => {
      readyAt = run.clock.monotonic();
      hold(session);
      run.state({ lifecycle: "ready", connected: true });
    });
    if (run.signal.aborted) break;
    const lastError = messageWithout(end ?? "the link was closed", secrets);
    if (end instanceof AccountRefused) {
      links.end();
      hold(undefined);
      return run.state({ lifecycle: "blocked", connected: false, lastError });
    }
    attempt = readyAt !== undefined && run.clock.monotonic() - readyAt > STEADY_MS ? 1 : attempt + 1;
    const waitMs = reconnectWaitMs(timing.reconnectMs, attempt, random());
    run.state({ lifecycle: "recovering", connected: false, lastError });
    run.logger.debug("the link is made again", { attempt, waitMs });
    await sleep(waitMs, run.signal).catch(() => undefined);
  }
  links.end();
  hold(undefined);
  run.state({ lifecycle: "stopped", connected: false });
}

/** Wait before a new link: 1.8 times longer each time, 60 s at most, a fifth more or less. @param attempt links that broke or failed in a row, from 1 */
export function reconnectWaitMs(firstMs: number, attempt: number, random: number): number {
  return Math.round(Math.min(MAX_WAIT_MS, firstMs * 1.8 ** (attempt - 1)) * (0.8 + 0.4 * random));
}

/** Message of an error without the account's secrets: a server may repeat what it was sent. */
export function messageWithout(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), messageOf(error));
}

/** The links of one account, one after the other, and the session that goes on over them. */
class Links {
  readonly #run: ChannelRun<XmppAccount>;
  readonly #timing: XmppTiming;
  readonly #inbox: Inbox;
  #session: Session | undefined;
  #stream: XmppStream | undefined;

  constructor(run: ChannelRun<XmppAccount>, timing: XmppTiming) {
    this.#run = run;
    this.#timing = timing;
    const pause = (isPaused: boolean) => (isPaused ? this.#stream?.wire.pause() : this.#stream?.wire.resume());
    this.#inbox = new Inbox({ run, pause, firstWaitMs: timing.offerMs });
  }

  /** One link from its first packet to its last. @returns the reason why it is gone */
  async once(onReady: (session: Session) => void): Promise<Error | undefined> {
    const run = this.#run;
    const abort = () => this.#session?.close();
    try {
      const { account, signal } = run;
      const login = await logIn({ account, timing: this.#timing, signal, resource: account.resource, earlier: this.#session?.earlier });
      this.#stream = login.stream;
      signal.addEventListener("abort", abort, { once: true });
      this.#begin(login, onReady);
      if (signal.aborted) abort();
      return await login.stream.wire.ended;
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    } finally {
      run.signal.removeEventListener("abort", abort);
      this.#stream = undefined;
      this.#session?.detach();
    }
  }

  end(): void {
    this.#session?.end();
    this.#session = undefined;
  }

  #begin(login: Login, onReady: (session: Session) => void): void {
    const { stream } = login;
    if (login.kind === "resumed" && this.#session) {
      this.#session.resume(stream, login.acked);
      return onReady(this.#session);
    }
    this.#session?.end(login.acked);
    const session = new Session({ run: this.#run, inbox: this.#inbox, timing: this.#timing });
    this.#session = session;
    let isGone = false;
    void stream.wire.ended.then(() => {
      isGone = true;
    });
    void session.enter(stream, login.features).then(() => {
      if (!isGone) onReady(session);
    });
  }
}
