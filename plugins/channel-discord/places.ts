import { isRecord } from "svc/sdk";
import { ApiError } from "./api-error.ts";
import { BoundedMap } from "./bounded-map.ts";
import { isSnowflake } from "./ids.ts";
import type { RestApi } from "./rest.ts";
import { CHANNEL_TYPES, type DiscordChannel } from "./wire.ts";

/** Channels and threads that are remembered; others are asked for again. */
const MAX_CHANNELS = 5_000;
/** Users whose direct channel is remembered. */
const MAX_USERS = 2_000;

/** Place of a message: a channel, or a thread and the channel that it belongs to. */
export interface Place {
  channelId: string;
  name?: string;
  type?: number;
  threadId?: string;
}

/** Channels and threads as the gateway has announced them, or the API says; and the direct channel of each user. */
export class Places {
  readonly #channels = new BoundedMap<DiscordChannel>(MAX_CHANNELS);
  readonly #direct = new BoundedMap<string>(MAX_USERS);

  /** Takes over what an event says about channels. */
  learn(kind: string, data: unknown): void {
    if (!isRecord(data)) return;
    if (kind === "GUILD_CREATE") {
      for (const list of [data.channels, data.threads]) if (Array.isArray(list)) for (const channel of list) this.#add(channel);
    } else if (/^(CHANNEL|THREAD)_(CREATE|UPDATE)$/.test(kind)) this.#add(data);
    else if (/^(CHANNEL|THREAD)_DELETE$/.test(kind) && isSnowflake(data.id)) this.#channels.delete(data.id);
  }

  #add(channel: unknown): void {
    if (!isRecord(channel) || !isSnowflake(channel.id) || typeof channel.type !== "number") return;
    this.#channels.set(channel.id, {
      id: channel.id,
      type: channel.type,
      ...(typeof channel.name === "string" ? { name: channel.name.slice(0, 200) } : {}),
      ...(isSnowflake(channel.parent_id) ? { parent_id: channel.parent_id } : {}),
    });
  }

  directChannel(userId: string): string | undefined {
    return this.#direct.get(userId);
  }

  rememberDirect(userId: string, channelId: string): void {
    this.#direct.set(userId, channelId);
  }

  /**
   * Place of what happened in a channel of a server.
   * @throws {Error} when it is not known yet, and may be later
   */
  async find(id: string, api: RestApi, options: { limitMs: number; signal: AbortSignal }): Promise<Place> {
    const channel = await this.#channel(id, api, options);
    if (!channel || !(CHANNEL_TYPES.threads as readonly number[]).includes(channel.type) || !channel.parent_id)
      return { channelId: id, ...(channel ? { type: channel.type, ...named(channel) } : {}) };
    const parent = await this.#channel(channel.parent_id, api, options);
    return { channelId: channel.parent_id, threadId: id, ...(parent ? { type: parent.type, ...named(parent) } : {}) };
  }

  /** Undefined for one that the bot may not see by itself. */
  async #channel(id: string, api: RestApi, options: { limitMs: number; signal: AbortSignal }): Promise<DiscordChannel | undefined> {
    const known = this.#channels.get(id);
    if (known) return known;
    try {
      this.#add(await api.call("GET", `/channels/${id}`, options));
      return this.#channels.get(id);
    } catch (error) {
      // Without a code something in between has answered.
      if (error instanceof ApiError && error.code !== undefined && (error.status === 403 || error.status === 404)) return undefined;
      throw error;
    }
  }
}

function named({ name }: DiscordChannel): { name?: string } {
  return name ? { name: `#${name}` } : {};
}
