import { createHash } from "node:crypto";
import { isRecord, type PluginKv } from "svc/sdk";
import type { DiscordAccount } from "./accounts.ts";
import { identityOf } from "./accounts.ts";
import { isGatewayAddress } from "./gateway-address.ts";

/** A session of the gateway, and the place up to which its events are stored. */
interface Session {
  id: string;
  url: string;
  intents: number;
  seq: number;
}

interface ProgressOptions {
  kv: Pick<PluginKv, "get" | "set">;
  account: DiscordAccount;
  intents: number;
  waitMs: number;
  onError(error: unknown): void;
}

/**
 * Place in the stream of events. Discord keeps the events of a session for some minutes and sends them again from the place that it is told; so this is the last
 * event that the host has stored, also for the next process.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #key: string;
  #session: Session | undefined;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#key = `session:${createHash("sha256").update(identityOf(options.account)).digest("hex").slice(0, 32)}`;
  }

  /** Reads what an earlier process has left. One with other intents would bring other events. */
  async load(): Promise<void> {
    const { kv, intents, account, onError } = this.#options;
    const stored: unknown = await kv.get(this.#key).catch(onError);
    if (!isRecord(stored)) return;
    const { id, url, seq } = stored;
    if (typeof id !== "string" || typeof url !== "string" || typeof seq !== "number" || stored.intents !== intents) return;
    if (!isGatewayAddress(url, account.apiRoot)) return;
    this.#session = { id, url, intents, seq };
    this.#received = seq;
  }

  get session(): Readonly<Session> | undefined {
    return this.#session;
  }

  /** A session begins. */
  begin(id: string, url: string, seq: number): void {
    this.#session = { id, url, intents: this.#options.intents, seq };
    this.#received = seq;
    this.#save();
  }

  /** It cannot be taken up again. */
  lose(): void {
    this.#session = undefined;
    this.#received = 0;
    this.#write();
  }

  /** True the first time that an event of the session comes. */
  isNew(seq: number): boolean {
    if (seq <= this.#received) return false;
    this.#received = seq;
    return true;
  }

  /** The host has everything up to here. */
  stored(sessionId: string | undefined, seq: number): void {
    if (this.#session === undefined || this.#session.id !== sessionId || seq <= this.#session.seq) return;
    this.#session = { ...this.#session, seq };
    this.#write();
  }

  /** Writes what has changed, and nothing after that. */
  async close(): Promise<void> {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#save();
    }
    await this.#writing;
  }

  #write(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save();
    }, this.#options.waitMs);
  }

  #save(): void {
    const { kv, onError } = this.#options;
    const session = this.#session;
    this.#writing = this.#writing.then(() => kv.set(this.#key, session ?? null)).catch(onError);
  }
}
