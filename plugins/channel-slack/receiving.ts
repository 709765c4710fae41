import { setMaxListeners } from "node:events";
import { type ChannelRun, type InboundEvent, messageOf, sleep } from "svc/sdk";
import type { SlackAccount } from "./accounts.ts";
import type { SlackApi } from "./api.ts";
import type { Conversations } from "./conversations.ts";
import { messageId } from "./ids.ts";
import { commandToEvent, filesOf, isDirectMessage, isSpoken, toEvent } from "./message.ts";
import type { Delivery, Self, SlackEvent, SlackFile } from "./payloads.ts";
import { namedIds } from "./read-text.ts";
import type { SlackTiming } from "./timing.ts";

const MAX_WAIT_MS = 5_000;
/** Files of one message that are fetched; the host keeps no more. */
const MAX_FILES = 10;
/** Messages that wait for the host at a time: Slack sends the others again. */
const MAX_UNDER_WAY = 100;

interface ReceivingOptions {
  run: ChannelRun<SlackAccount>;
  api: SlackApi;
  conversations: Conversations;
  timing: SlackTiming;
  /** Called when the app was removed from the workspace. */
  onRemoved(): void;
}

interface UnderWay {
  conversation: string;
  stored: Promise<void>;
}

/**
 * Hands messages to the host. It outlives the links of the account: Slack sends again what was not acknowledged within seconds, and each further delivery waits for the
 * first one. Messages of one conversation keep their order.
 */
export class Receiving {
  readonly #options: ReceivingOptions;
  readonly #underWay = new Map<string, UnderWay>();
  #self: Self | undefined;

  constructor(options: ReceivingOptions) {
    this.#options = options;
    // One for each message that waits.
    setMaxListeners(2 * MAX_UNDER_WAY, options.run.signal);
  }

  /** Sets the bot by whose eyes messages are read. */
  set self(self: Self) {
    this.#self = self;
  }

  /** Takes a delivery. Resolves when the host has what is in it, or never wants it; rejects when it cannot be taken now. */
  async take(delivery: Delivery): Promise<void> {
    const place = this.#placeOf(delivery);
    if (!place) return;
    const { id, conversation } = place;
    const earlier = this.#underWay.get(id);
    if (earlier) return earlier.stored;
    if (this.#underWay.size >= MAX_UNDER_WAY) throw new Error(`${MAX_UNDER_WAY} messages wait for the host already`);
    const before = [...this.#underWay.values()].filter((other) => other.conversation === conversation).map(({ stored }) => stored);
    const stored = Promise.allSettled(before)
      .then(() => this.#deliver(delivery, id))
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, { conversation, stored });
    return stored;
  }

  /** Where and under which id a delivery belongs; undefined for one that nobody said. Never throws. */
  #placeOf({ kind, payload }: Delivery): { id: string; conversation: string } | undefined {
    if (kind === "command") {
      const { command, trigger_id: trigger, channel_id: channel, user_id: user } = payload;
      if (![command, trigger, channel, user].every((value) => typeof value === "string")) return undefined;
      const isConfigured = this.#options.run.account.slashCommands.includes(command);
      if (!isConfigured)
        this.#options.run.logger.debug("a slash command that is not listed below slashCommands was passed over", {
          command: command.slice(0, 40),
        });
      return isConfigured ? { id: `command:${trigger}`, conversation: channel } : undefined;
    }
    const { event } = payload;
    const revoked: unknown = event.type === "tokens_revoked" ? event.tokens?.bot : undefined;
    if (event.type === "app_uninstalled" || (Array.isArray(revoked) && revoked.includes(this.#self?.userId))) this.#options.onRemoved();
    if (!this.#self || !isSpoken(event, this.#self)) return undefined;
    return { id: messageId(event.channel as string, event.ts as string), conversation: event.channel as string };
  }

  async #deliver(delivery: Delivery, id: string): Promise<void> {
    const { run, timing } = this.#options;
    const event = await this.#read(delivery, id);
    if (!event) return;
    for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      run.signal.throwIfAborted();
      try {
        // Fetched again at each try: what was stored goes with a message that is not taken.
        const media = delivery.kind === "event" ? await this.#media(delivery.payload.event, event) : [];
        await whileRunning(run.receive(media.length > 0 ? { ...event, media } : event), run.signal);
        return;
      } catch (error) {
        // The host takes it for no message at all, and always will.
        if (error instanceof TypeError) return run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id });
        run.logger.debug("a message waits for the host", { id, error: messageOf(error) });
      }
      await sleep(waitMs, run.signal).catch(() => undefined);
    }
  }

  /** Reads a message. One that cannot be read is passed over: it would come again, to no end. */
  async #read({ kind, payload }: Delivery, id: string): Promise<InboundEvent | undefined> {
    const { run, conversations } = this.#options;
    try {
      if (kind === "command") return commandToEvent(payload);
      const { event, team_id: teamId } = payload;
      const { channel = "", user, text = "" } = event;
      const isDirect = isDirectMessage(event);
      if (isDirect && user !== undefined) conversations.learn(user, channel);
      const names = await conversations.namesOf([...(user === undefined ? [] : [user]), ...(isDirect ? [] : [channel]), ...namedIds(text)]);
      return toEvent(event, {
        self: this.#self as Self,
        teamId,
        names,
        replyInThread: run.account.replyInThread,
        isOwnThread: (inChannel, ts) => conversations.isOwnThread(inChannel, ts),
      });
    } catch (error) {
      run.logger.warn(`a message that cannot be read was passed over: ${messageOf(error)}`, { id });
      return undefined;
    }
  }

  /** Files of a message. One that cannot be had is named without its content: the words count more. */
  async #media(event: SlackEvent, message: InboundEvent): Promise<NonNullable<InboundEvent["media"]>> {
    const { run, api } = this.#options;
    const { maxFileBytes } = run.account;
    const media: NonNullable<InboundEvent["media"]> = [];
    const files = filesOf(event).slice(0, MAX_FILES);
    const isAdmitted = files.length > 0 && (await run.admits?.(message)) !== false;
    for (const file of files) {
      const mime = file.mimetype ?? "application/octet-stream";
      const about = { mime, ...(file.name === undefined ? {} : { name: file.name }) };
      const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? "file";
      if (!isAdmitted) {
        media.push({ kind, ...about, ...(file.size === undefined ? {} : { bytes: file.size }) });
        continue;
      }
      try {
        const { size } = file;
        if (size !== undefined && size > maxFileBytes) throw new Error(`it has ${size} bytes; maxFileBytes allows ${maxFileBytes}`);
        const content = await api.download(await this.#addressOf(file), mime);
        media.push({ kind, ...about, ...(await run.saveMedia(limited(content, maxFileBytes), about)) });
      } catch (error) {
        run.signal.throwIfAborted();
        run.logger.warn(`a file was not fetched: ${messageOf(error)}`, { kind });
        media.push({ kind, ...about, ...(file.size === undefined ? {} : { bytes: file.size }) });
      }
    }
    return media;
  }

  /** In channels that are shared with other workspaces a message has only the id of a file. */
  async #addressOf(file: SlackFile): Promise<string> {
    const isBare = file.file_access === "check_file_info" || (file.url_private === undefined && file.url_private_download === undefined);
    const { url_private_download: download, url_private: shown } = isBare
      ? (await this.#options.api.call<{ file: SlackFile }>("files.info", { file: file.id })).file
      : file;
    const address = download ?? shown;
    if (address === undefined) throw new Error("Slack gives no address for it");
    return address;
  }
}

/** Waits for the host, but no longer than the account runs: what it has not stored comes again. */
function whileRunning(stored: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    stored.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The size in a message is what Slack was told. */
async function* limited(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes (maxFileBytes)`);
    yield chunk;
  }
}
