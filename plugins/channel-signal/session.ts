import { ChannelInbox, type ChannelRun, type InboundEvent, isRecord, messageOf } from "svc/sdk";
import type { SignalAccount } from "./accounts.ts";
import { type Daemon, openDaemon } from "./daemon.ts";
import { type ReceivedMessage, type StoredAttachment, toMessage } from "./envelope.ts";
import { MAX_MEDIA_BYTES } from "./sending.ts";
import { GROUP } from "./targets.ts";
import type { SignalTiming } from "./timing.ts";

/** Attachments of one message that are fetched; the others are named only. */
const MAX_FETCHED = 10;
/** Messages that wait behind an attachment. */
const MAX_PENDING = 500;

interface SessionOptions {
  run: ChannelRun<SignalAccount>;
  timing: SignalTiming;
  /** Called with the daemon that messages are sent through, and with undefined when there is none. */
  hold(daemon: Daemon | undefined): void;
  onReady(): void;
}

/**
 * Links the account to its daemon and hands over what people write. Resolves when the link is gone, with the reason unless it was closed from here.
 * @throws {AccountRefusedError} when the daemon does not serve the account
 */
export async function runSession({ run, timing, hold, onReady }: SessionOptions): Promise<Error | undefined> {
  const gone = new AbortController();
  // A daemon in the automatic mode sends messages with its first packet, before it is known whose they are.
  const early: unknown[] = [];
  let take = (params: unknown) => {
    if (early.push(params) > MAX_PENDING) throw new Error("too many messages came before the daemon answered");
  };
  const daemon = await openDaemon({
    account: run.account,
    timing,
    signal: run.signal,
    onNotification: (method, params) => (method === "receive" ? take(params) : undefined),
  });
  const { link, ownIds } = daemon;
  const inbox = new ChannelInbox({ run, link, signal: gone.signal, firstWaitMs: timing.offerMs });
  const incoming = new Incoming({ run, daemon, offer: (event) => inbox.offer(event) });
  take = (params) => incoming.take(params);
  for (const params of early.splice(0)) take(params);
  try {
    run.state({ self: { id: [...ownIds].find((id) => !id.startsWith("+")) ?? run.account.account } });
    hold(daemon);
    // Until somebody subscribes, a daemon in the manual mode leaves messages at Signal, which keeps them.
    await daemon.call("subscribeReceive");
    onReady();
    return await link.ended;
  } finally {
    hold(undefined);
    link.close();
    gone.abort();
  }
}

interface IncomingOptions {
  run: ChannelRun<SignalAccount>;
  daemon: Daemon;
  offer(event: InboundEvent): void;
}

/** Reads notifications, and fetches attachments, in the order of their arrival. */
class Incoming {
  readonly #options: IncomingOptions;
  #last: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(options: IncomingOptions) {
    this.#options = options;
  }

  /** @throws {Error} when too many messages wait for an attachment, which ends the link: what was received meanwhile is lost with it */
  take(params: unknown): void {
    const { daemon, offer } = this.#options;
    const received = envelopeOf(params);
    if (received.account !== undefined && !daemon.ownIds.has(received.account)) return;
    const message = toMessage(received.envelope, daemon.ownIds);
    if (!message) return;
    if (this.#pending === 0 && message.attachments.length === 0) return offer(message.event);
    if (this.#pending >= MAX_PENDING) throw new Error("too many messages wait for an attachment");
    this.#pending += 1;
    this.#last = this.#last.then(async () => {
      offer(await this.#withMedia(message));
      this.#pending -= 1;
    });
  }

  async #withMedia({ event, attachments }: ReceivedMessage): Promise<InboundEvent> {
    if (attachments.length === 0) return event;
    const media: NonNullable<InboundEvent["media"]> = [];
    const isAdmitted = await this.#admits(event);
    for (const [n, attachment] of attachments.entries()) {
      const { mime, name, bytes } = attachment;
      const path = isAdmitted && n < MAX_FETCHED ? await this.#fetch(event, attachment) : undefined;
      media.push({
        kind: mime.split("/")[0] ?? "file",
        mime,
        ...(name ? { name } : {}),
        ...(bytes === undefined ? {} : { bytes }),
        ...path,
      });
    }
    return { ...event, media };
  }

  /** Says whether somebody may send files. A host that cannot say now gets the message with their names. */
  async #admits(event: InboundEvent): Promise<boolean> {
    const { run } = this.#options;
    return (run.admits?.(event) ?? Promise.resolve(true)).catch((error: unknown) => {
      run.logger.warn(`attachments were not fetched: ${messageOf(error)}`, { message: event.id });
      return false;
    });
  }

  /** A message whose attachment cannot be had arrives all the same. */
  async #fetch(event: InboundEvent, { id, mime, name, bytes = 0 }: StoredAttachment): Promise<{ path: string; bytes: number } | undefined> {
    const { run, daemon } = this.#options;
    try {
      if (bytes > MAX_MEDIA_BYTES) throw new Error(`it is larger than ${MAX_MEDIA_BYTES} bytes`);
      const { id: peer } = event.peer;
      const from = peer.startsWith(GROUP) ? { groupId: peer.slice(GROUP.length) } : { recipient: peer };
      const answer = await daemon.call("getAttachment", { id, ...from });
      const data = isRecord(answer) && typeof answer.data === "string" ? answer.data : "";
      const saved = await run.saveMedia(Buffer.from(data, "base64"), { mime, ...(name ? { name } : {}) });
      return { path: saved.path, bytes: saved.bytes };
    } catch (error) {
      run.logger.warn(`an attachment was not fetched: ${messageOf(error)}`, { message: event.id });
      return undefined;
    }
  }
}

/** A notification of the automatic mode, or of a subscription. */
function envelopeOf(params: unknown): { envelope: unknown; account: string | undefined } {
  const own = isRecord(params) && isRecord(params.result) ? params.result : params;
  if (!isRecord(own)) return { envelope: undefined, account: undefined };
  return { envelope: own.envelope, account: typeof own.account === "string" ? own.account : undefined };
}
