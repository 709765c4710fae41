import { createHash, randomUUID } from "node:crypto";
import type { PluginContext } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";
import type { PublishPacket } from "./library.ts";

/** Messages given to the host last that are remembered: of them the broker may not have read the acknowledgement. */
const MAX_REMEMBERED = 100;

/** A message that the broker may send again: its identifier in the session, a digest of its content, and the id that the host knows it by. */
type Delivered = [messageId: number, digest: string, eventId: string];

/** A message as the broker sends it again. */
export interface Mark {
  messageId: number;
  /** Digest of its content; undefined for QoS 0, which is never sent again. */
  digest: string | undefined;
  isRepeated: boolean;
}

interface Stored {
  filters: string[];
  delivered: Delivered[];
}

/**
 * Remembers, across restarts, by which ids the host knows the messages that the broker may send again. MQTT gives messages no ids, and uses its identifiers over and over; what
 * it does say is that a message was sent before (DUP). Messages are acknowledged in order as soon as the host has them, so only the last ones can come again.
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

  /** Id of a message that is given to the host now: the one it had before when it comes again, otherwise a new one. */
  idOf({ messageId, digest, isRepeated }: Mark): string {
    if (digest === undefined) return randomUUID();
    const known = this.#stored.delivered.findLast(([id, content]) => id === messageId && content === digest);
    if (isRepeated && known) return known[2];
    const eventId = randomUUID();
    this.#change({ delivered: [...this.#stored.delivered, [messageId, digest, eventId] as Delivered].slice(-MAX_REMEMBERED) });
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

/** Returns what a message is known by when it comes again. */
export function markOf({ qos, dup, messageId = 0, topic, payload, properties }: PublishPacket): Mark {
  const content = () => digestOf(topic, "\0", payload, "\0", properties?.responseTopic ?? "", "\0", properties?.correlationData ?? "");
  return { messageId, digest: qos === 0 ? undefined : content(), isRepeated: dup };
}

function digestOf(...parts: Array<string | Buffer>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("base64url").slice(0, 22);
}
