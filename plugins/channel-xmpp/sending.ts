import { NotDispatchedError, type Receipt, SendRefusedError } from "svc/sdk";
import { refusalOf } from "./refusals.ts";
import type { XmppTiming } from "./timing.ts";
import { attrOf, type Xml, type XmlElement } from "./xml.ts";

/** Messages that wait for their confirmation. */
const MAX_WAITING = 64;
/** Largest stanza that servers take from their clients: 256 KiB in their defaults. */
const MAX_STANZA_BYTES = 262_144;

interface SendingOptions {
  /** Sends a stanza. @param onAck called when the server has handled it. @returns false when nothing has left the process */
  transmit(stanza: Xml, onAck: () => void): boolean;
  /** Gives up a link on which no confirmation comes. */
  giveUp(reason: Error): void;
  /** Takes a stanza out of those that are sent again on the next link. */
  forget(stanza: Xml): void;
  timing: Pick<XmppTiming, "confirmMs" | "sendMs">;
  now(): number;
}

interface Message {
  /** Attribute `id` of the stanza. */
  id: string;
  to: string;
  stanza: Xml;
  /** A room sends each message back to who wrote it: that confirms it. */
  isRoom: boolean;
}

interface Pending {
  message: Message;
  isAcked: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** Sends messages, and waits until it is known that the server has each, or the room has shown it. */
export class Sending {
  readonly #options: SendingOptions;
  readonly #pending = new Map<string, Pending>();

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** @throws as `Channel.send` */
  async send(message: Message): Promise<Receipt> {
    const { timing, transmit, forget, giveUp, now } = this.#options;
    const { id, stanza } = message;
    const size = Buffer.byteLength(stanza.text);
    if (size > MAX_STANZA_BYTES)
      throw new SendRefusedError(`the message takes ${size} bytes, and servers take ${MAX_STANZA_BYTES}`, { isPermanent: true });
    if (this.#pending.size >= MAX_WAITING)
      throw new NotDispatchedError(`${MAX_WAITING} messages wait for their confirmation`, { retryAfterMs: 5_000 });
    if (this.#pending.has(id)) throw new NotDispatchedError("the same message is being sent");
    const timers: NodeJS.Timeout[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const pending: Pending = { message, isAcked: false, resolve, reject };
        this.#pending.set(id, pending);
        timers.push(
          setTimeout(() => {
            if (pending.isAcked) resolve();
            else giveUp(new Error(`the server did not confirm a message within ${timing.confirmMs / 1_000} s`));
          }, timing.confirmMs),
          setTimeout(() => {
            forget(stanza);
            reject(new Error(`no confirmation came within ${timing.sendMs / 1_000} s`));
          }, timing.sendMs),
        );
        const isSent = transmit(stanza, () => {
          pending.isAcked = true;
          if (!message.isRoom) resolve();
        });
        if (!isSent) reject(new NotDispatchedError("there is no link to the server"));
      });
      return { messageId: id, at: now() };
    } finally {
      for (const timer of timers) clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** Takes a message that a room has sent back. */
  echo(stanza: XmlElement): void {
    const pending = this.#pending.get(attrOf(stanza, "id"));
    if (pending?.message.isRoom) pending.resolve();
  }

  /** Takes a message that came back as an error. @returns false for one that nobody waits for any more */
  refused(stanza: XmlElement): boolean {
    const pending = this.#pending.get(attrOf(stanza, "id"));
    pending?.reject(refusalOf(stanza, pending.message.to));
    return pending !== undefined;
  }

  /** Ends what waits: the session is gone, and whether the server has the last messages is not known. */
  end(): void {
    for (const { reject } of this.#pending.values()) reject(new Error("the link broke before the server confirmed the message"));
  }
}
