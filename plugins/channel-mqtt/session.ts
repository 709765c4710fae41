import { type ChannelRun, type OutboundMessage, type Receipt, SendRefusedError } from "svc/sdk";
import type { MqttAccount } from "./accounts.ts";
import { destinationOf } from "./address.ts";
import { Inbox } from "./inbox.ts";
import { type Ledger, markOf } from "./ledger.ts";
import type { Connack, PublishPacket } from "./library.ts";
import type { Link } from "./link.ts";
import { CLIENT_PROPERTY, ID_PROPERTY, readMessage } from "./message.ts";
import { writePayload } from "./payload.ts";
import { wordsOf } from "./refusals.ts";
import type { MqttTiming } from "./timing.ts";

/** Reasons of messages that were not taken, each of which is logged once for a link. */
const MAX_REASONS = 20;

interface SessionOptions {
  run: ChannelRun<MqttAccount>;
  ledger: Ledger;
  timing: MqttTiming;
}

/** The account at its broker, for the time of one link. */
export class Session {
  readonly #run: ChannelRun<MqttAccount>;
  readonly #ledger: Ledger;
  readonly #inbox: Inbox;
  readonly #gone = new AbortController();
  readonly #logged = new Set<string>();
  #link: Link | undefined;

  constructor({ run, ledger, timing }: SessionOptions) {
    this.#run = run;
    this.#ledger = ledger;
    this.#inbox = new Inbox({ run, ledger, signal: this.#gone.signal, firstWaitMs: timing.offerMs });
  }

  /** Takes the broker's answer, which comes before its first message. */
  accepted({ sessionPresent }: Connack): void {
    if (!sessionPresent) this.#ledger.forget();
  }

  /** Takes a message. @throws {Error} for one that ends the link */
  take(packet: PublishPacket): void {
    const messageId = packet.qos > 0 ? packet.messageId : undefined;
    const mark = markOf(packet);
    const about = { id: () => this.#ledger.idOf(mark), ...(messageId === undefined ? {} : { messageId }) };
    const reading = readMessage(packet, this.#run.account);
    if ("event" in reading) return this.#inbox.offer({ event: reading.event, ...about });
    if (!reading.isQuiet && this.#logged.size < MAX_REASONS && !this.#logged.has(reading.reason)) {
      this.#logged.add(reading.reason);
      this.#run.logger.warn(`a message was not taken: ${reading.reason}`, { topic: wordsOf(packet.topic) });
    }
    this.#inbox.offer(about);
  }

  /** Subscribes, and announces the account; resolves when the broker has confirmed it. @throws {Error} when it refuses something */
  async enter(link: Link): Promise<void> {
    const { subscriptions, status, name } = this.#run.account;
    this.#link = link;
    void link.ended.then(() => this.#gone.abort());
    this.#inbox.open(link);
    const filters = subscriptions.map(({ filter }) => filter);
    const stale = this.#ledger.filters.filter((filter) => !filters.includes(filter));
    if (stale.length > 0) await link.unsubscribe(stale);
    await link.subscribe(filters);
    this.#ledger.filters = filters;
    await this.#ledger.save();
    if (status) await link.publish(status.topic, Buffer.from(status.online), { retain: true });
    if (name !== undefined) this.#run.state({ self: { name } });
  }

  /** @throws as `Channel.send` */
  async send({ uid, to, text }: OutboundMessage): Promise<Receipt> {
    const { account, clock } = this.#run;
    const destination = destinationOf(to, account);
    if (!destination) {
      const hint = "expected somebody of a topic with {sender}, group:<name>, or topic:<name> that responseTopics allow";
      throw new SendRefusedError(`"${wordsOf(to)}" cannot be written to: ${hint}`, { isPermanent: true });
    }
    if (!this.#link) throw new SendRefusedError("the link is being made", { isPermanent: false });
    const { topic, payload, correlationData } = destination;
    const about = { id: uid, ...(account.name === undefined ? {} : { name: account.name }) };
    await this.#link.publish(topic, writePayload(text?.text ?? "", payload, about), {
      properties: {
        payloadFormatIndicator: true,
        contentType: payload === "json" ? "application/json" : "text/plain; charset=utf-8",
        userProperties: { [CLIENT_PROPERTY]: account.clientId, [ID_PROPERTY]: uid },
        ...(correlationData === undefined ? {} : { correlationData }),
      },
    });
    return { messageId: uid, at: clock.now() };
  }

  /** Says that the account leaves, and closes the link; the broker keeps the session. */
  leave(): void {
    const { status } = this.#run.account;
    const link = this.#link;
    if (!link) return;
    // The broker says it by itself only for an account that is lost.
    if (status) link.publish(status.topic, Buffer.from(status.offline), { retain: true }).catch(() => undefined);
    link.close();
  }
}
