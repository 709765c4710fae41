import { NotDispatchedError, SendRefusedError } from "svc/sdk";
import { ApiError, type SlackApi } from "./api.ts";
import { isUser } from "./ids.ts";

/** Persons whose direct conversation, names that, and threads that are remembered. */
const MAX_REMEMBERED = 2_000;
/** Time after which a name is asked for again. */
const NAME_HOLDS_MS = 3_600_000;
/** Names that are asked for at a time. */
const MAX_ASKED = 20;

/** Bounded map: what was set longest ago is forgotten first. */
class Remembered<V> extends Map<string, V> {
  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.size > MAX_REMEMBERED ? this.keys().next().value : undefined;
    if (oldest !== undefined) this.delete(oldest);
    return this;
  }
}

interface ConversationsOptions {
  api: SlackApi;
  nameMs: number;
  now(): number;
}

/** The conversations of one account, as far as it has come across them. */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #direct = new Remembered<string>();
  readonly #names = new Remembered<{ name: string | undefined; at: number }>();
  readonly #threads = new Remembered<true>();
  /** Methods that the app has no scope for: they are not called again. */
  readonly #withoutScope = new Set<string>();

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  /** Remembers the direct conversation with a person. */
  learn(user: string, channel: string): void {
    this.#direct.set(user, channel);
  }

  /** Remembers that the bot has written in a thread. */
  joined(channel: string, ts: string): void {
    this.#threads.set(`${channel}:${ts}`, true);
  }

  isOwnThread(channel: string, ts: string): boolean {
    return this.#threads.has(`${channel}:${ts}`);
  }

  /** Conversation to write to: that of a person is opened. Nothing is sent by that. @throws {SendRefusedError, NotDispatchedError} */
  async idOf(target: string): Promise<string> {
    const known = isUser(target) ? this.#direct.get(target) : target;
    if (known !== undefined) return known;
    try {
      const { channel } = await this.#options.api.call<{ channel?: { id?: string } }>("conversations.open", { users: target });
      if (typeof channel?.id !== "string") throw new Error("Slack names no conversation");
      this.#direct.set(target, channel.id);
      return channel.id;
    } catch (error) {
      if (error instanceof ApiError || error instanceof SendRefusedError) throw error;
      throw new NotDispatchedError(error instanceof Error ? error.message : "the conversation was not opened");
    }
  }

  /** Names of persons (`U…`), bots and channels (`C…`), those that can be had in time. Never rejects. */
  async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    await Promise.all(
      ids.slice(0, MAX_ASKED).map(async (id) => {
        const name = await this.#nameOf(id);
        if (name !== undefined) names.set(id, name);
      }),
    );
    return names;
  }

  async #nameOf(id: string): Promise<string | undefined> {
    const { api, nameMs, now } = this.#options;
    const known = this.#names.get(id);
    if (known && now() - known.at < NAME_HOLDS_MS) return known.name;
    const method = isUser(id) ? "users.info" : /^[CG]/.test(id) ? "conversations.info" : undefined;
    if (method === undefined || this.#withoutScope.has(method)) return undefined;
    try {
      const found = await api.call<{ user?: UserInfo; channel?: { name?: string } }>(
        method,
        isUser(id) ? { user: id } : { channel: id },
        nameMs,
      );
      const name = found.user ? nameOfUser(found.user) : found.channel?.name;
      this.#names.set(id, { name, at: now() });
      return name;
    } catch (error) {
      if (error instanceof ApiError && error.code === "missing_scope") this.#withoutScope.add(method);
      // Asked again later, but not with each message.
      this.#names.set(id, { name: known?.name, at: now() });
      return known?.name;
    }
  }
}

interface UserInfo {
  name?: string;
  real_name?: string;
  profile?: { display_name?: string; real_name?: string };
}

function nameOfUser({ name, real_name: real, profile }: UserInfo): string | undefined {
  return [profile?.display_name, profile?.real_name, real, name].find((one) => typeof one === "string" && one !== "");
}
