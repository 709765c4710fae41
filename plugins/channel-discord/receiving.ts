import { type ChannelRun, type InboundEvent, isRecord, messageOf, sleep } from "svc/sdk";
import type { DiscordAccount } from "./accounts.ts";
import { ApiError } from "./api-error.ts";
import type { Commands } from "./commands.ts";
import { interactionId, isSnowflake, messageId } from "./ids.ts";
import { toCommand, toEvent } from "./message.ts";
import type { Places } from "./places.ts";
import type { Progress } from "./progress.ts";
import type { RestApi } from "./rest.ts";
import type { DiscordTiming } from "./timing.ts";
import { APPLICATION_COMMAND, type Attachment, type Interaction, type Message, type User } from "./wire.ts";

/** Events that wait, above which the gateway is not read on, and below which it is again. */
const [PAUSE_AT, RESUME_AT] = [100, 50];
const MAX_WAIT_MS = 5_000;
/** Files of one message that are fetched; the host keeps no more. */
const MAX_FILES = 10;

interface ReceivingOptions {
  run: ChannelRun<DiscordAccount>;
  api: RestApi;
  places: Places;
  progress: Progress;
  commands: Commands;
  timing: DiscordTiming;
}

type Spoken = { kind: "message"; message: Message } | { kind: "command"; interaction: Interaction; id: string };

/** Shortest wait before Discord is asked again. */
interface Later {
  retryAfterMs: number;
}

interface Waiting {
  spoken: Spoken;
  self: User;
  sessionId: string | undefined;
  /** Last event that is stored when this one is: those without words between it and the next are passed over. */
  seq: number;
}

/** Hands events to the host one after the other; it outlives the connections, because what was read from one need not come again. */
export class Receiving {
  readonly #options: ReceivingOptions;
  readonly #waiting: Waiting[] = [];
  #link: { pause(): void; resume(): void } | undefined;
  #isDraining = false;

  constructor(options: ReceivingOptions) {
    this.#options = options;
  }

  /** A new connection, or none. It is paused by the first event beyond the bound: a socket that is still connecting cannot be. */
  linked(link: { pause(): void; resume(): void } | undefined): void {
    this.#link = link;
  }

  /** Takes an event on. */
  push(kind: string, data: unknown, { seq, self }: { seq: number; self: User }): void {
    const { progress, places } = this.#options;
    if (!progress.isNew(seq)) return;
    const sessionId = progress.session?.id;
    places.learn(kind, data);
    const spoken = this.#spokenIn(kind, data);
    const last = this.#waiting.at(-1);
    if (!spoken) {
      if (!last) progress.stored(sessionId, seq);
      else if (last.sessionId === sessionId) last.seq = seq;
      return;
    }
    if (spoken.kind === "command") this.#options.commands.defer(spoken.id, spoken.interaction);
    this.#waiting.push({ spoken, self, sessionId, seq });
    if (this.#waiting.length >= PAUSE_AT) this.#link?.pause();
    if (!this.#isDraining) void this.#drain();
  }

  #spokenIn(kind: string, data: unknown): Spoken | undefined {
    if (kind === "MESSAGE_CREATE" && isMessage(data)) return { kind: "message", message: data };
    if (kind === "INTERACTION_CREATE" && isCommand(data))
      return { kind: "command", interaction: data, id: interactionId(data.channel_id as string, data.id) };
    return undefined;
  }

  async #drain(): Promise<void> {
    const { run, progress } = this.#options;
    this.#isDraining = true;
    for (let next = this.#waiting[0]; next !== undefined && !run.signal.aborted; next = this.#waiting[0]) {
      const isTaken = await this.#deliver(next).then(
        () => true,
        (error: unknown) => {
          if (!run.signal.aborted) run.logger.warn(`a message that cannot be read was passed over: ${messageOf(error)}`);
          return !run.signal.aborted;
        },
      );
      if (!isTaken) break;
      this.#waiting.shift();
      progress.stored(next.sessionId, next.seq);
      if (this.#waiting.length === RESUME_AT - 1) this.#link?.resume();
    }
    this.#isDraining = false;
  }

  async #deliver({ spoken, self }: Waiting): Promise<void> {
    const { run, timing } = this.#options;
    for (let waitMs = timing.offerMs; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
      run.signal.throwIfAborted();
      const event = await this.#eventOf(spoken, self);
      if (event && "retryAfterMs" in event) {
        await sleep(Math.max(waitMs, event.retryAfterMs), run.signal).catch(() => undefined);
        continue;
      }
      if (!event) return;
      try {
        // Fetched again at each try: what was stored goes with a message that is not taken.
        const media = spoken.kind === "message" ? await this.#media(spoken.message.attachments ?? [], event) : [];
        const { status } = await whileRunning(run.receive(media.length > 0 ? { ...event, media } : event), run.signal);
        if (status === "dropped" && spoken.kind === "command") this.#options.commands.decline(spoken.id);
        return;
      } catch (error) {
        // The host takes it for no message at all, and always will.
        if (error instanceof TypeError) return run.logger.warn(`a message was dropped: ${messageOf(error)}`, { id: event.id });
        run.logger.debug("a message waits for the host", { id: event.id, error: messageOf(error) });
      }
      await sleep(waitMs, run.signal).catch(() => undefined);
    }
  }

  /** The event of a message or a command; a time to wait while Discord does not say where it happened. */
  async #eventOf(spoken: Spoken, self: User): Promise<InboundEvent | Later | undefined> {
    const { api, places, run, timing } = this.#options;
    const source = spoken.kind === "message" ? spoken.message : spoken.interaction;
    const channelId = source.channel_id as string;
    try {
      const place =
        source.guild_id === undefined ? undefined : await places.find(channelId, api, { limitMs: timing.callMs, signal: run.signal });
      if (spoken.kind === "command") return toCommand(spoken.interaction, place, spoken.id);
      const { message } = spoken;
      if (!place && message.author.id !== self.id) places.rememberDirect(message.author.id, channelId);
      return toEvent(message, place, self);
    } catch (error) {
      if (error instanceof TypeError || isLasting(error)) throw error;
      run.logger.debug(`the channel of a message is not known yet: ${messageOf(error)}`, { id: messageId(channelId, source.id) });
      return { retryAfterMs: error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0 };
    }
  }

  /** Files of a message. One that cannot be had is named without its content: the words count more. */
  async #media(attachments: readonly Attachment[], message: InboundEvent): Promise<NonNullable<InboundEvent["media"]>> {
    const { run, api, timing } = this.#options;
    const media: NonNullable<InboundEvent["media"]> = [];
    const isAdmitted = attachments.length > 0 && (await run.admits?.(message)) !== false;
    const limit = AbortSignal.any([run.signal, AbortSignal.timeout(timing.fileMs)]);
    for (const { filename: name, content_type: type, size: bytes, url } of attachments.slice(0, MAX_FILES)) {
      const mime = (type ?? "application/octet-stream").split(";")[0] as string;
      const about = { mime, ...(name === undefined ? {} : { name }) };
      const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? "file";
      if (!isAdmitted) {
        media.push({ kind, ...about, ...(bytes === undefined ? {} : { bytes }) });
        continue;
      }
      try {
        if (bytes !== undefined && bytes > run.account.maxFileBytes)
          throw new Error(`it has ${bytes} bytes; maxFileBytes allows ${run.account.maxFileBytes}`);
        if (url === undefined) throw new Error("Discord gives no address for it");
        media.push({ kind, ...about, ...(await run.saveMedia(limited(await api.download(url, limit), run.account.maxFileBytes), about)) });
      } catch (error) {
        run.signal.throwIfAborted();
        run.logger.warn(`a file was not fetched: ${messageOf(error)}`, { kind });
        media.push({ kind, ...about, ...(bytes === undefined ? {} : { bytes }) });
      }
    }
    return media;
  }
}

/** True for a refusal that another try does not change; a limit, a token, and what stands between here and Discord may change. */
function isLasting(error: unknown): boolean {
  return error instanceof ApiError && error.code !== undefined && error.status !== 401 && error.status !== 429;
}

function isMessage(data: unknown): data is Message {
  return (
    isRecord(data) &&
    isSnowflake(data.id) &&
    isSnowflake(data.channel_id) &&
    isRecord(data.author) &&
    isSnowflake(data.author.id) &&
    typeof data.content === "string"
  );
}

function isCommand(data: unknown): data is Interaction {
  return (
    isRecord(data) &&
    data.type === APPLICATION_COMMAND &&
    isSnowflake(data.id) &&
    isSnowflake(data.application_id) &&
    isSnowflake(data.channel_id) &&
    typeof data.token === "string" &&
    /^[\w.-]{1,500}$/.test(data.token)
  );
}

/** Waits for the host, but no longer than the account runs. */
function whileRunning<T>(stored: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    stored.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The size in a message is what Discord says of it. */
async function* limited(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes (maxFileBytes)`);
    yield chunk;
  }
}
