import { ChannelInbox, type ChannelRun, keepConnected, messageOf } from "svc/sdk";
import { secretValues, type XmppAccount } from "./accounts.ts";
import { type Login, logIn } from "./login.ts";
import { Session } from "./session.ts";
import type { XmppStream } from "./stream.ts";
import type { XmppTiming } from "./timing.ts";

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
  try {
    await keepConnected(run, {
      firstWaitMs: timing.reconnectMs,
      random,
      describe: (reason) => messageWithout(reason, secrets),
      connect: (onReady) =>
        links.once((session) => {
          hold(session);
          onReady();
        }),
    });
  } finally {
    links.end();
    hold(undefined);
  }
}

/** Message of an error without the account's secrets: a server may repeat what it was sent. */
export function messageWithout(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), messageOf(error));
}

/** The links of one account, one after the other, and the session that goes on over them. */
class Links {
  readonly #run: ChannelRun<XmppAccount>;
  readonly #timing: XmppTiming;
  readonly #inbox: ChannelInbox;
  #session: Session | undefined;
  #stream: XmppStream | undefined;

  constructor(run: ChannelRun<XmppAccount>, timing: XmppTiming) {
    this.#run = run;
    this.#timing = timing;
    const link = { pause: () => this.#stream?.wire.pause(), resume: () => this.#stream?.wire.resume() };
    // It outlives the links: the server keeps what is not acknowledged, and the next link brings it again.
    this.#inbox = new ChannelInbox({ run, link, signal: run.signal, firstWaitMs: timing.offerMs });
  }

  /** One link from its first packet to its last. @returns the reason why it is gone */
  async once(onReady: (session: Session) => void): Promise<Error | undefined> {
    const run = this.#run;
    const abort = () => this.#session?.close();
    try {
      const { account, signal } = run;
      const earlier = this.#session?.earlier;
      const login = await logIn({ account, timing: this.#timing, signal, resource: account.resource, earlier });
      this.#stream = login.stream;
      signal.addEventListener("abort", abort, { once: true });
      this.#begin(login, earlier?.handled ?? 0, onReady);
      if (signal.aborted) abort();
      return await login.stream.wire.ended;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(messageOf(error));
      this.#stream?.wire.destroy(reason);
      return reason;
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

  /** @param told stanzas of an earlier session that the server was told are handled */
  #begin(login: Login, told: number, onReady: (session: Session) => void): void {
    const { stream } = login;
    if (login.kind === "resumed" && this.#session) {
      this.#session.resume(stream, login.acked, told);
      return onReady(this.#session);
    }
    this.#session?.end(login.acked);
    const session = new Session({ run: this.#run, inbox: this.#inbox, timing: this.#timing });
    this.#session = session;
    let isGone = false;
    void stream.wire.ended.then(() => {
      isGone = true;
    });
    const onEntered = () => {
      if (!isGone) onReady(session);
    };
    session.enter(stream, login.features).then(onEntered, (error: Error) => stream.wire.destroy(error));
  }
}
