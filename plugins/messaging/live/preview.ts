import {
  type Channel,
  type ChannelRun,
  type Disposable,
  isSendRefused,
  messageOf,
  type PluginContext,
  type RenderedText,
  settledWithin,
} from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { type PostedPreview, removePreview } from "./replace-preview.ts";

/** A shorter beginning is not posted. */
const FIRST_CHARS = 30;
/** Before the first post: an answer that is whole by then needs no preview. */
const FIRST_WAIT_MS = 250;
const EDIT_MS = 1_000;
/** A platform that refuses changes is asked less and less often. */
const SLOWEST_MS = 30_000;
/** Changes that failed in a row, after which the preview stays as it is. */
const MAX_FAULTS = 3;
/** Time that the final text waits for a call under way. */
const SETTLE_MS = 2_000;

/** The step of a row that names its preview: it stands in the row before and after the post. */
export type PreviewStep = { messageId: string } | { isPosting: true };

/** A text as one message, and the message that it quotes. */
export interface RenderedPreview {
  text: RenderedText;
  replyToId?: string;
}

export interface PreviewOptions {
  ctx: Pick<PluginContext, "timers" | "clock" | "logger">;
  uid: string;
  to: string;
  threadId: string | undefined;
  /** Undefined while the account is not connected. */
  target(): { channel: Channel; run: ChannelRun; onPosted(messageId: string): void } | undefined;
  /** The text as one message of the channel, and the message that it quotes; undefined when it does not fit. */
  render(text: string, channel: Channel): RenderedPreview | undefined;
  /** Step that an earlier process has left. */
  left: PreviewStep | undefined;
  /** Stores the step; no call of the platform begins before it resolves. */
  note(step: PreviewStep): Promise<void>;
}

/** A message that grows with the answer while it is written. The final text replaces it; until then it is only a picture of what will come. */
export class Preview {
  readonly #options: PreviewOptions;
  #text = "";
  #shown = "";
  #messageId: string | undefined;
  #work: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #nextAt: number | undefined;
  #pauseMs = EDIT_MS;
  #faults = 0;
  #isClosed = false;
  /** The answer has gone its own way while the first post was under way: a post that arrives now is taken back. */
  #isGivenUp = false;

  constructor(options: PreviewOptions) {
    this.#options = options;
    const { left } = options;
    if (left && "messageId" in left) this.#messageId = left.messageId;
    // Nobody knows whether the post of the earlier process arrived, and a second preview would not help.
    else if (left) this.#isClosed = true;
  }

  /** @param text the whole of what the agent has said so far */
  write(text: string): void {
    this.#text = text;
    this.#plan();
  }

  /** Changes nothing from here on; waits two seconds at most for a call under way. */
  async close(): Promise<PostedPreview | undefined> {
    this.#isClosed = true;
    void this.#timer?.dispose();
    if (this.#work) await settledWithin(this.#work, SETTLE_MS);
    this.#isGivenUp ||= this.#work !== undefined && this.#messageId === undefined;
    if (this.#messageId === undefined || this.#isGivenUp) return undefined;
    return { messageId: this.#messageId, ...(this.#work ? { isFixed: true } : {}) };
  }

  #plan(): void {
    if (this.#isClosed || this.#work || this.#timer || this.#faults >= MAX_FAULTS) return;
    if (this.#text === this.#shown || this.#text.trim().length < FIRST_CHARS) return;
    const { ctx } = this.#options;
    const now = ctx.clock.monotonic();
    this.#nextAt ??= now + FIRST_WAIT_MS;
    this.#timer = ctx.timers.setTimeout(
      () => {
        this.#timer = undefined;
        if (!this.#isClosed) this.#begin();
      },
      Math.max(0, this.#nextAt - now),
    );
  }

  #begin(): void {
    const text = this.#text;
    this.#work = this.#show(text)
      .then(
        () => {
          this.#faults = 0;
          this.#pauseMs = EDIT_MS;
          this.#shown = text;
        },
        (error: unknown) => this.#onFault(error),
      )
      .finally(() => {
        this.#work = undefined;
        this.#nextAt = this.#options.ctx.clock.monotonic() + this.#pauseMs;
        this.#plan();
      });
  }

  async #show(text: string): Promise<void> {
    const target = this.#options.target();
    if (!target) return;
    const { channel, run } = target;
    const { to, threadId, uid } = this.#options;
    const rendered = this.#options.render(text, channel);
    // A text that does not fit into one message is not shown before it is whole.
    if (!rendered) return;
    if (this.#messageId !== undefined) return channel.edit?.({ to, messageId: this.#messageId, text: rendered.text }, run);
    // Where a repeat is known to the platform, a post that was cut off by a kill is found again by its uid.
    if (channel.capabilities.idempotentSend !== true) await this.#options.note({ isPosting: true });
    const { messageId } = await channel.send({ uid, to, ...rendered, ...(threadId === undefined ? {} : { threadId }) }, run);
    this.#messageId = messageId;
    target.onPosted(messageId);
    if (this.#isGivenUp) return removePreview({ to, messageId }, channel, run, this.#options.ctx.logger);
    await this.#options.note({ messageId });
    await reached("preview.after-post");
  }

  #onFault(error: unknown): void {
    const askedMs = isSendRefused(error) ? error.retryAfterMs : undefined;
    this.#pauseMs = Math.max(Math.min(this.#pauseMs * 2, SLOWEST_MS), askedMs ?? 0);
    // A platform that is only asked for patience is not given up, but a first post is tried once.
    if (askedMs === undefined || this.#messageId === undefined) this.#faults += this.#messageId === undefined ? MAX_FAULTS : 1;
    const { ctx, uid } = this.#options;
    ctx.logger.debug(`preview ${uid} was not shown`, { waitMs: this.#pauseMs, error: messageOf(error) });
  }
}
