import { type ChannelRun, messageOf, sleep, withLimit } from "svc/sdk";
import type { MailAccount } from "./accounts.ts";
import type { ImapClient, OpenMailbox } from "./client.ts";
import type { Progress, ProgressStore } from "./progress.ts";
import type { MailTiming } from "./timing.ts";

/** Keyword of mails that were handled, whether they were taken or not. Names like this one are the mailbox's own (RFC 3501, 2.3.2). */
export const HANDLED = "SvcHandled";
/** Bytes that are read of a mail that is too large. */
const BEGINNING_BYTES = 256 * 1024;
/** Mails that are looked for at once. */
const MAX_BATCH = 200;
const MAX_WAIT_MS = 5_000;

/** Result of one mail: `taken` is marked as read. */
export type Handled = "taken" | "dropped";

interface InboxOptions {
  run: ChannelRun<MailAccount>;
  timing: MailTiming;
  client: ImapClient;
  mailbox: OpenMailbox;
  progress: ProgressStore;
  /** Ends with the link. */
  signal: AbortSignal;
  /** Hands one mail to the host. @throws when the host cannot take it now */
  handle(raw: Uint8Array, isCut: boolean): Promise<Handled>;
}

/** Hands the mails of an open mailbox to the host, in their order, and marks them. A mail is passed only once the host has it; a kill before that repeats it. */
export class Inbox {
  readonly #options: InboxOptions;
  #progress: Progress;

  private constructor(options: InboxOptions, progress: Progress) {
    this.#options = options;
    this.#progress = progress;
  }

  static async open(options: InboxOptions): Promise<Inbox> {
    return new Inbox(options, await options.progress.open(options.mailbox, options.run.clock.now()));
  }

  /** Handles all mails that are there. @throws when the link fails */
  async drain(): Promise<void> {
    const { signal } = this.#options;
    for (let uids = await this.#find(); uids.length > 0; uids = await this.#find()) {
      for (const uid of uids) {
        signal.throwIfAborted();
        await this.#handle(uid);
      }
    }
    if (this.#progress.since === undefined) return;
    const { since: _, ...done } = this.#progress;
    await this.#save(done);
  }

  /** Numbers that were not handled yet, lowest first. `n:*` names the last mail even where its number is below n. */
  async #find(): Promise<number[]> {
    const { next, since } = this.#progress;
    const query = since === undefined ? {} : { since: new Date(since), ...(this.#hasKeywords ? { unKeyword: HANDLED } : { seen: false }) };
    const found = await this.#command(this.#options.client.search({ uid: `${next}:*`, ...query }, { uid: true }));
    return (found || [])
      .filter((uid) => uid >= next)
      .sort((a, b) => a - b)
      .slice(0, MAX_BATCH);
  }

  async #handle(uid: number): Promise<void> {
    const { client, timing, run } = this.#options;
    const key = String(uid);
    const found = await this.#command(client.fetchOne(key, { uid: true, size: true }, { uid: true }));
    if (found && found.uid === uid) {
      const isCut = (found.size ?? 0) > run.account.maxMessageBytes;
      const maxLength = isCut ? BEGINNING_BYTES : run.account.maxMessageBytes;
      const mail = await this.#command(client.fetchOne(key, { uid: true, source: { start: 0, maxLength } }, { uid: true }), timing.fetchMs);
      // Somebody may have deleted it meanwhile.
      if (mail) await this.#mark(key, await this.#offer(mail.source ?? Buffer.alloc(0), isCut));
    }
    await this.#save({ ...this.#progress, next: uid + 1, at: run.clock.now() });
  }

  /** Offers a mail until the host has it, or the link ends. */
  async #offer(raw: Uint8Array, isCut: boolean): Promise<Handled> {
    const { handle, run, signal, timing } = this.#options;
    for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        return await handle(raw, isCut);
      } catch (error) {
        signal.throwIfAborted();
        run.logger.debug("a mail is offered again", { waitMs, error: messageOf(error) });
      }
      await sleep(waitMs, signal);
    }
  }

  async #mark(uid: string, handled: Handled): Promise<void> {
    this.#options.signal.throwIfAborted();
    const flags = [...(handled === "taken" ? ["\\Seen"] : []), ...(this.#hasKeywords ? [HANDLED] : [])];
    if (flags.length > 0) await this.#command(this.#options.client.messageFlagsAdd(uid, flags, { uid: true }));
  }

  /** A place in the store that is away now is waited for: without it the same mails would be read again. */
  async #save(progress: Progress): Promise<void> {
    const { progress: store, signal, timing } = this.#options;
    for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      try {
        await store.save(progress);
        this.#progress = progress;
        return;
      } catch {
        signal.throwIfAborted();
      }
      await sleep(waitMs, signal);
    }
  }

  get #hasKeywords(): boolean {
    return this.#options.mailbox.permanentFlags?.has("\\*") ?? true;
  }

  #command<T>(work: Promise<T>, limitMs = this.#options.timing.commandMs): Promise<T> {
    const late = () => {
      throw new Error(`the IMAP server did not answer within ${limitMs / 1_000} s`);
    };
    return withLimit(work, limitMs, late, this.#options.signal);
  }
}
