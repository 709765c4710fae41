import {
  type Channel,
  type ChannelRun,
  type DeliveryRow,
  type MessageRoute,
  type PluginContext,
  type Store,
  type StoreOp,
  z,
} from "svc/sdk";
import { type Inbound, quotedBy, routeOf } from "../inbound/stored.ts";
import { toPieces } from "../outbound/pieces.ts";
import { withPrefix } from "../outbound/response-prefix.ts";
import { Blocks, restOf, sentOf } from "./blocks.ts";
import { Preview, type PreviewStep, type RenderedPreview } from "./preview.ts";
import { type PostedPreview, removePreview } from "./replace-preview.ts";

const STEP = "preview";
/** The answer of a run is the message with the run's id and this end. */
const ANSWER = ":out";

const storedStep = z.union([z.object({ messageId: z.string().min(1) }), z.object({ isPosting: z.literal(true) })]);

/** A part of an answer, on its way to where the question came from. */
export interface AnswerPart {
  uid: string;
  text: string;
  route: MessageRoute;
  agentId: string;
  sessionKey: string;
  /** True for the part that the answer begins with. */
  isFirst: boolean;
  replyToId?: string;
}

interface AnswersDeps {
  ctx: Pick<PluginContext, "timers" | "clock" | "logger" | "isHookUsed" | "snapshot">;
  store(): Pick<Store, "commit" | "deliveries">;
  channel(id: string): Channel | undefined;
  /** True where the answers of a session stay in it. */
  isSilenced(of: { sessionKey: string; route: MessageRoute }): Promise<boolean>;
  /** Puts a part of an answer into the queue, in one commit with `step`. */
  sendPart(part: AnswerPart, step: StoreOp): Promise<void>;
  /** Undefined while the account is not connected. */
  account(channel: string, accountId: string): { run: ChannelRun; noteSent(messageId: string): void } | undefined;
}

/** An answer as it is written. */
export interface GrowingAnswer {
  /** @param text the whole of the present message of the agent; each message has an `itemId` of its own */
  write(text: string, itemId: unknown): void;
}

/** The part of an answer that is shown already: a preview that the final text takes the place of, and parts that were sent. */
export interface Shown {
  preview?: PostedPreview;
  /** The text without the parts that were sent. */
  rest(text: string): string;
}

const nothingShown: Shown = { rest: (text) => text };

/** Answers that are shown while they are written: as many as there are messages at work. */
export class GrowingAnswers {
  readonly #deps: AnswersDeps;
  /** By the uid of the message that is answered. */
  readonly #previews = new Map<string, Preview>();
  readonly #blocks = new Map<string, Blocks>();

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
  }

  /** Undefined where an answer is shown when it is whole. */
  begin(row: DeliveryRow, inbound: Inbound): GrowingAnswer | undefined {
    const channel = this.#deps.channel(inbound.route.channel);
    if (!channel) return undefined;
    if (canEdit(channel)) return this.#beginPreview(row, inbound);
    if (channel.capabilities.wholeAnswers === true) return undefined;
    const blocks = new Blocks({
      ctx: this.#deps.ctx,
      row,
      send: (part, step) => {
        const { agentId, sessionKey } = inbound;
        return this.#deps.sendPart({ ...part, ...quotedBy(row), route: routeOf(inbound), agentId, sessionKey }, step);
      },
    });
    this.#blocks.set(row.uid, blocks);
    return blocks;
  }

  /** Forgets an answer; what the platform has of it stays. */
  end({ uid }: DeliveryRow): void {
    void this.#previews.get(uid)?.close();
    void this.#blocks.get(uid)?.close();
    this.#previews.delete(uid);
    this.#blocks.delete(uid);
  }

  /** Resolves with the part of the answer that people have seen. Nothing more of it is shown from here on. */
  async shown(uid: string, route: MessageRoute): Promise<Shown> {
    const channel = this.#deps.channel(route.channel);
    if (!uid.endsWith(ANSWER) || !channel) return nothingShown;
    const run = uid.slice(0, -ANSWER.length);
    const [preview, blocks] = [this.#previews.get(run), this.#blocks.get(run)];
    if (preview) return toShown(await preview.close());
    if (blocks) {
      const sent = await blocks.close();
      return { rest: (text) => restOf(text, sent) };
    }
    const row = await this.#deps.store().deliveries.get(run);
    if (row?.dir !== "in") return nothingShown;
    const step = stepOf(row);
    if (canEdit(channel)) return toShown(step && "messageId" in step ? { messageId: step.messageId } : undefined);
    return { rest: (text) => restOf(text, sentOf(row)) };
  }

  /** Removes the preview of a run that ended without an answer: there is nothing that could take its place. */
  async discard(row: DeliveryRow, inbound: Inbound): Promise<void> {
    const route = routeOf(inbound);
    const { ctx, store, channel, account } = this.#deps;
    const [known, linked] = [channel(route.channel), account(route.channel, route.accountId)];
    if (!known || !canEdit(known) || !linked) return;
    const { preview } = await this.shown(row.uid + ANSWER, route);
    if (!preview) return;
    const answer = await store().deliveries.get(row.uid + ANSWER);
    const isWithheld = answer?.result?.status === "suppressed" || answer?.result?.status === "cancelled";
    if (!answer || isWithheld) await removePreview({ to: route.to, messageId: preview.messageId }, known, linked.run, ctx.logger);
  }

  #beginPreview(row: DeliveryRow, inbound: Inbound): Preview | undefined {
    const route = routeOf(inbound);
    const { ctx, channel, account, store } = this.#deps;
    // A plugin may change an answer, or hold it back: nobody may see it before that is decided.
    if (ctx.isHookUsed("outbound.sending")) return undefined;
    let isAllowed = false;
    const { sessionKey } = inbound;
    this.#deps.isSilenced({ sessionKey, route }).then(
      (isSilenced) => (isAllowed = !isSilenced),
      () => undefined, // while the storage is away nothing is shown
    );
    const preview = new Preview({
      ctx,
      uid: `${row.uid}:preview`,
      to: route.to,
      threadId: route.threadId,
      left: stepOf(row),
      render: (text, known) => render(text, known, { route, ...quotedBy(row) }, ctx),
      target() {
        const [known, linked] = [channel(route.channel), account(route.channel, route.accountId)];
        return isAllowed && known && linked ? { channel: known, run: linked.run, onPosted: (id) => linked.noteSent(id) } : undefined;
      },
      async note(value) {
        const { uid, attempt, leaseBoot = "" } = row;
        const op = { op: "delivery.step", uid, leaseBoot, attempt, step: STEP, value: { ...value }, at: ctx.clock.now() } as const;
        await store().commit([op]);
      },
    });
    this.#previews.set(row.uid, preview);
    return preview;
  }
}

/** The text as one message of the channel, as it would be sent; undefined when it is more than one. */
function render(
  text: string,
  channel: Channel,
  to: { route: MessageRoute; replyToId?: string },
  ctx: AnswersDeps["ctx"],
): RenderedPreview | undefined {
  const message = {
    ...to,
    uid: "preview",
    text: withPrefix(text, ctx.snapshot()),
    origin: "chat" as const,
    sessionKey: "preview",
    agentId: "preview",
  };
  const [only, ...more] = toPieces(message, channel, ctx);
  if (!only || more.length > 0) return undefined;
  const rendered = channel.text.render({ text: only.text, spans: only.spans ?? [] });
  return { text: rendered, ...(only.replyToId === undefined ? {} : { replyToId: only.replyToId }) };
}

function toShown(preview: PostedPreview | undefined): Shown {
  return { ...nothingShown, ...(preview ? { preview } : {}) };
}

function canEdit({ capabilities, edit }: Channel): boolean {
  return capabilities.edit === true && edit !== undefined;
}

function stepOf({ steps }: Pick<DeliveryRow, "steps">): PreviewStep | undefined {
  return storedStep.safeParse(steps[STEP]).data;
}
