import { type ChannelRun, type InboundEvent, messageOf, sleep } from "svc/sdk";
import type { TelegramAccount } from "./accounts.ts";
import type { BotApi } from "./api.ts";
import { MediaGroups } from "./groups.ts";
import { attachmentOf, toEvent } from "./message.ts";
import type { TelegramTiming } from "./timing.ts";
import type { Message, Update, User } from "./updates.ts";

const MAX_WAIT_MS = 5_000;
/** Files of one message that are fetched; the host keeps no more. */
const MAX_FILES = 10;

interface ReceivingOptions {
  run: ChannelRun<TelegramAccount>;
  api: BotApi;
  self: User;
  timing: TelegramTiming;
}

/** Hands updates to the host; each call resolves when the host has stored what is in them. */
export class Receiving {
  readonly #options: ReceivingOptions;
  readonly #groups: MediaGroups;

  constructor(options: ReceivingOptions) {
    this.#options = options;
    this.#groups = new MediaGroups(options.timing.groupMs, (messages, id) => this.#deliver(messages, id));
  }

  /** Takes updates in their order. Resolves when all of them are stored. @throws when the account stops before that */
  async takeAll(updates: readonly Update[]): Promise<void> {
    const grouped: Array<Promise<void>> = [];
    try {
      for (const update of updates) {
        const message = messageIn(update);
        if (message?.media_group_id !== undefined) grouped.push(this.#groups.add(message, String(update.update_id)));
        else await this.#take(update);
      }
    } finally {
      await Promise.allSettled(grouped);
    }
    await Promise.all(grouped);
  }

  async #take(update: Update): Promise<void> {
    const message = messageIn(update);
    if (!message) return;
    await this.#groups.flush(message.chat.id);
    const { logger } = this.#options.run;
    if (message.migrate_to_chat_id !== undefined)
      logger.warn(`a group has become a supergroup: groups below channels.telegram need its new id`, {
        before: message.chat.id,
        now: message.migrate_to_chat_id,
      });
    await this.#deliver([message], String(update.update_id));
  }

  async #deliver(messages: readonly Message[], id: string): Promise<void> {
    const event = this.#eventOf(messages, id);
    if (!event) return;
    const { run, timing } = this.#options;
    for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      run.signal.throwIfAborted();
      try {
        // Fetched again at each try: what was stored goes with a message that is not taken.
        const media = await this.#media(messages, event);
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

  /** Reads a message. One that cannot be read is passed over: it would come again for ever, and those behind it never. */
  #eventOf(messages: readonly Message[], id: string): InboundEvent | undefined {
    try {
      return toEvent(messages, id, this.#options.self);
    } catch (error) {
      this.#options.run.logger.warn(`a message that cannot be read was passed over: ${messageOf(error)}`, { id });
      return undefined;
    }
  }

  /** Files of a message. One that cannot be had is named without its content: the words count more. */
  async #media(messages: readonly Message[], event: InboundEvent): Promise<NonNullable<InboundEvent["media"]>> {
    const { run, api, timing } = this.#options;
    const media: NonNullable<InboundEvent["media"]> = [];
    const attachments = messages.flatMap((message) => attachmentOf(message) ?? []).slice(0, MAX_FILES);
    const isAdmitted = attachments.length > 0 && (await run.admits?.(event)) !== false;
    for (const { kind, mime, file } of attachments) {
      const { file_id: fileId, file_size: bytes, file_name: name } = file;
      const about = { mime, ...(name === undefined ? {} : { name }) };
      if (!isAdmitted) {
        media.push({ kind, ...about, ...(bytes === undefined ? {} : { bytes }) });
        continue;
      }
      try {
        if (bytes !== undefined && bytes > run.account.maxFileBytes)
          throw new Error(`it has ${bytes} bytes; maxFileBytes allows ${run.account.maxFileBytes}`);
        const limit = AbortSignal.any([run.signal, AbortSignal.timeout(timing.fileMs)]);
        const { file_path: path } = await api.call<{ file_path?: string }>(
          "getFile",
          { file_id: fileId },
          { limitMs: timing.callMs, signal: limit },
        );
        if (path === undefined) throw new Error("Telegram gives no path for it");
        media.push({ kind, ...about, ...(await run.saveMedia(limited(await api.download(path, limit), run.account.maxFileBytes), about)) });
      } catch (error) {
        run.signal.throwIfAborted();
        run.logger.warn(`a file was not fetched: ${messageOf(error)}`, { kind });
        media.push({ kind, ...about, ...(bytes === undefined ? {} : { bytes }) });
      }
    }
    return media;
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

/** The size in a message is what its sender's client said. */
async function* limited(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes (maxFileBytes)`);
    yield chunk;
  }
}

/** The message of an update, if it says in which chat it is. */
function messageIn({ message, channel_post: post }: Update): Message | undefined {
  const found: { chat?: Partial<Message["chat"]> | null } | undefined = message ?? post;
  return typeof found?.chat?.id === "number" ? (found as Message) : undefined;
}
