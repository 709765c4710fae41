import type { RunOrigin, RunRequest, SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { ModelRef } from "../models/choice.ts";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import type { Run } from "./run.ts";

/** Facts that a model is told beside a message. */
interface Context {
  /** Epoch milliseconds at which the message came. */
  at: number;
  channel: string | undefined;
  /** The operator, who writes through a client of the gateway, wrote it. */
  isOperator: boolean;
  model: string | undefined;
}

/**
 * The line before a message that tells a model when it came, from where, whether from the operator, and for which model. It is stored in the row of the message, so
 * that the next prompt holds the same bytes. Undefined for requests of HTTP clients: their messages reach the model as they wrote them, and a time in a conversation
 * that they bring along would keep a vendor's cache from covering it. Other senders are named by the frame around their message: their names may hold any words.
 */
export function contextFor(
  kit: Pick<Kit, "models">,
  run: Run,
  { session, now }: { session: Pick<SessionRow, "model">; now: number },
): string | undefined {
  if (isStatelessKey(run.sessionKey) || run.request.actor.kind === "http") return undefined;
  const { request, origin, agent } = run;
  const model = run.model ?? session.model ?? kit.models.standard(agent);
  return contextLine({ at: now, channel: channelOf(request), isOperator: isOperator(request, origin), model: model && refText(model) });
}

/** Pure, but for the time zone of the process. */
export function contextLine({ at, channel, isOperator, model }: Context): string {
  const clock = clockFormat();
  const { timeZone } = clock.resolvedOptions();
  const parts = [
    `Now: ${clock.format(at)} (${timeZone}).`,
    ...(channel === undefined ? [] : [`Channel: ${channel}.`]),
    ...(isOperator ? ["Sender: the operator."] : []),
    ...(model === undefined ? [] : [`Chosen model: ${model}.`]),
  ];
  return `System: ${parts.join(" ")}`;
}

let clock: Intl.DateTimeFormat | undefined;

/** Made once, with the first message: it takes longer to make than the rest of a prompt, and would be a fiftieth of a start. */
function clockFormat(): Intl.DateTimeFormat {
  clock ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short" });
  return clock;
}

/** The channel of a message, by the name of its plugin; clients of the gateway are the web chat. */
function channelOf({ place, sender, actor }: Pick<RunRequest, "place" | "sender" | "actor">): string | undefined {
  return place?.channel ?? sender?.channel ?? (actor.kind === "rpc" ? "webchat" : undefined);
}

function isOperator({ trigger, actor, sender }: Pick<RunRequest, "trigger" | "actor" | "sender">, origin: RunOrigin): boolean {
  return trigger === "user" && actor.kind === "rpc" && sender === undefined && origin === "operator";
}

function refText(model: ModelRef | string): string {
  return typeof model === "string" ? model : `${model.provider}/${model.model}`;
}
