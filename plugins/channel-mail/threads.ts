import { createHash } from "node:crypto";
import { isRecord, type Logger, messageOf, type PluginKv } from "svc/sdk";

/** Facts about a conversation that an answer needs. Ids have no angle brackets. */
export interface Thread {
  /** Id of its first mail. */
  root: string;
  subject: string;
  /** Ids of its latest mails, oldest first. */
  chain: string[];
  at: number;
}

/** Threads that are remembered of a mailbox; the one that was quiet longest goes first. */
const MAX_THREADS = 800;
const MAX_CHAIN = 10;
const MAX_SUBJECT_CHARS = 500;

/** Stands for a digest in the key of the mail that the host has not decided on. */
const PROPOSED = "proposed";

/** A mail of a thread. */
interface ThreadMail {
  /** Without angle brackets. */
  messageId: string;
  subject: string;
  at: number;
}

interface ThreadsOptions {
  kv: Pick<PluginKv, "get" | "set" | "delete" | "list">;
  /** Names the mailbox. */
  mailbox: string;
  logger: Pick<Logger, "warn">;
}

/** Threads of a mailbox: in memory, and in the store for the answers of a later process. */
export class Threads {
  readonly #options: ThreadsOptions;
  /** By digest of the root, the one that was quiet longest first. */
  readonly #threads = new Map<string, Thread>();
  /** With the mail that the host has not decided on: strangers may write as many as they like, so it is no part of the table yet. */
  #proposed: Thread | undefined;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  /** Reads what is stored. @throws {SvcError} `service-unavailable` */
  async open(): Promise<void> {
    const rows = await this.#options.kv.list(this.#prefix);
    const stored = rows.flatMap(({ key, value }) => (isThread(value) ? [[key.slice(this.#prefix.length), value] as const] : []));
    for (const [digest, thread] of stored.sort(([, a], [, b]) => a.at - b.at)) {
      if (digest === PROPOSED) this.#proposed = thread;
      else this.#threads.set(digest, thread);
    }
  }

  get(root: string): Thread | undefined {
    const digest = digestOf(root);
    return this.#proposed && digestOf(this.#proposed.root) === digest ? this.#proposed : this.#threads.get(digest);
  }

  /** Root of the thread that a mail belongs to: a thread of ours where it names one of our mails, otherwise the first mail that it names. */
  rootOf({ messageId, inReplyTo, references }: { messageId: string; inReplyTo?: string; references: readonly string[] }): string {
    const named = [...references, ...(inReplyTo === undefined ? [] : [inReplyTo])];
    for (const id of named) {
      const digest = ownId.exec(id)?.[1];
      const own = digest === undefined ? undefined : this.#threads.get(digest);
      if (own) return own.root;
    }
    return named[0] ?? messageId;
  }

  /** Root of the thread that a mail is known to belong to. */
  rootWith(messageId: string): string | undefined {
    for (const { root, chain } of [...this.#threads.values(), ...(this.#proposed ? [this.#proposed] : [])])
      if (chain.includes(messageId)) return root;
    return undefined;
  }

  /** Adds a mail to its thread. What cannot be stored is known until the end of the process. */
  async add(root: string, mail: ThreadMail): Promise<void> {
    await this.#keep(threadWith(root, mail, this.get(root)));
  }

  /** Lets answers find a mail while the host decides on it; one at a time, the next one takes its place. */
  async propose(root: string, mail: ThreadMail): Promise<void> {
    const thread = threadWith(root, mail, this.#threads.get(digestOf(root)));
    this.#proposed = thread;
    await this.#storing(() => this.#options.kv.set(this.#prefix + PROPOSED, thread));
  }

  /** Adds the proposed mail to its thread: the host has it. */
  async accept(): Promise<void> {
    const thread = this.#proposed;
    if (!thread) return;
    const known = this.#threads.get(digestOf(thread.root));
    const [messageId = ""] = thread.chain.slice(-1);
    // An answer that was quick has brought the mail in, and stands behind it.
    if (known?.chain.includes(messageId) !== true) await this.#keep(thread);
    await this.reject();
  }

  /** Forgets the proposed mail: nobody took it. */
  async reject(): Promise<void> {
    this.#proposed = undefined;
    await this.#options.kv.delete(this.#prefix + PROPOSED).catch(() => undefined);
  }

  /** The thread that was quiet longest makes room for it. */
  async #keep(thread: Thread): Promise<void> {
    const digest = digestOf(thread.root);
    this.#threads.delete(digest);
    this.#threads.set(digest, thread);
    await this.#storing(async () => {
      await this.#options.kv.set(this.#prefix + digest, thread);
      for (const oldest of this.#threads.keys()) {
        if (this.#threads.size <= MAX_THREADS) return;
        await this.#drop(oldest);
      }
    });
  }

  async #storing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.warn("a thread was not stored: answers after a restart may stand outside of it", { error: messageOf(error) });
    }
  }

  async #drop(digest: string): Promise<void> {
    this.#threads.delete(digest);
    await this.#options.kv.delete(this.#prefix + digest);
  }

  get #prefix(): string {
    return `thread:${this.#options.mailbox}:`;
  }
}

/** A thread with one mail more. */
function threadWith(root: string, { messageId, subject, at }: ThreadMail, known: Thread | undefined): Thread {
  const chain = [...(known?.chain ?? []).filter((id) => id !== messageId), messageId].slice(-MAX_CHAIN);
  return { root, subject: (known?.subject || subject).slice(0, MAX_SUBJECT_CHARS), chain, at };
}

const ownId = /^svc\.[\w-]{1,128}\.([\da-f]{16})@/;

/** Names a thread in ids of our mails, and in the store. */
export function digestOf(root: string): string {
  const own = ownId.exec(root)?.[1];
  if (own !== undefined) return own;
  return createHash("sha256").update(root).digest("hex").slice(0, 16);
}

function isThread(value: unknown): value is Thread {
  return isRecord(value) && typeof value.root === "string" && typeof value.subject === "string" && Array.isArray(value.chain);
}
