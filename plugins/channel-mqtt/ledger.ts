import { createHash, randomUUID } from "node:crypto";
import type { PluginContext } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";
import type { PublishPacket } from "./library.ts";

/** Messages that may wait to be acknowledged. It is more than the broker is asked for: mosquitto 2.0.11 sends more when a session goes on. */
export const MAX_UNACKNOWLEDGED = 100;

/** A message that the broker may send again: its identifier in the session, a digest of its content, and the id that the host knows it by. */
type Delivered = [messageId: number, digest: string, eventId: string];

interface Stored {
  filters: string[];
  delivered: Delivered[];
}

/**
 * Remembers, across restarts, by which ids the host knows the messages that the broker may send again. MQTT gives messages no ids, and uses its identifiers over and over; what
 * it does say is that a message was sent before (DUP). Messages are acknowledged in order, so only the last `MAX_UNACKNOWLEDGED` can come again.
 */
export class Ledger {
  readonly #kv: Pick<PluginContext["kv"], "set">;
  readonly #key: string;
  #stored: Stored;
  #isSaved = true;

  private constructor(kv: Pick<PluginContext["kv"], "set">, key: string, stored: Stored) {
    this.#kv = kv;
    this.#key = key;
    this.#stored = stored;
  }

  static async open(kv: Pick<PluginContext["kv"], "get" | "set">, { accountId, clientId }: MqttAccount): Promise<Ledger> {
    const key = `session:${digestOf(`${accountId}\0${clientId}`)}`;
    return new Ledger(kv, key, (await kv.get<Stored>(key)) ?? { filters: [], delivered: [] });
  }

  /** Filters that the broker's session still has from earlier. */
  get filters(): readonly string[] {
    return this.#stored.filters;
  }

  set filters(filters: readonly string[]) {
    if (filters.join("\n") !== this.#stored.filters.join("\n")) this.#change({ filters: [...filters] });
  }

  /** Called when the broker has no session for the account any more: nothing will come again. */
  forget(): void {
    if (this.#stored.delivered.length > 0 || this.#stored.filters.length > 0) this.#change({ filters: [], delivered: [] });
  }

  /** Id of a message: the one it had before when it comes again, otherwise a new one. */
  idOf({ qos, dup, messageId = 0, topic, payload, properties }: PublishPacket): string {
    if (qos === 0) return randomUUID();
    const digest = digestOf(topic, "\0", payload, "\0", properties?.responseTopic ?? "", "\0", properties?.correlationData ?? "");
    const known = this.#stored.delivered.findLast(([id, content]) => id === messageId && content === digest);
    if (dup && known) return known[2];
    const eventId = randomUUID();
    this.#change({ delivered: [...this.#stored.delivered, [messageId, digest, eventId] as Delivered].slice(-MAX_UNACKNOWLEDGED) });
    return eventId;
  }

  /** Resolves when what is remembered is on disk. */
  async save(): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = true;
    try {
      await this.#kv.set(this.#key, this.#stored);
    } catch (error) {
      this.#isSaved = false;
      throw error;
    }
  }

  #change(patch: Partial<Stored>): void {
    this.#stored = { ...this.#stored, ...patch };
    this.#isSaved = false;
  }
}

function digestOf(...parts: Array<string | Buffer>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("base64url").slice(0, 22);
}
