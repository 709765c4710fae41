import type { DeliveryRow, JsonObject } from "svc/sdk";
import type { HookReply } from "./reply.ts";
import type { Delivered } from "./steps/deliver.ts";
import type { Ran } from "./steps/run.ts";

/** How an agent action ended, for `waitForCompletion`: no word of the model, no detail of a provider. */
export interface Completion {
  status: "ok" | "error" | "skipped";
  replyDisposition: "visible" | "silent" | "empty";
  delivered?: boolean;
  deliveryAttempted?: boolean;
  deliveryError?: "delivery-failed";
  deliverySuppressionReason?: "empty" | "silent" | "heartbeat";
}

/** Converts the result of an action to the answer for its caller. */
export function toCompletion(ran: Ran, reply: HookReply | undefined, delivered: Delivered | undefined): Completion {
  const replyDisposition = reply?.disposition ?? "empty";
  const base: Completion = { status: ran.status, replyDisposition };
  if (!delivered) return base;
  const { attempted, state, because } = delivered;
  return {
    ...base,
    delivered: state === "done",
    deliveryAttempted: attempted,
    ...(hasFailed(delivered) ? { deliveryError: "delivery-failed" } : {}),
    ...(because === undefined || because === "unavailable" ? {} : { deliverySuppressionReason: because }),
  };
}

/** `pending` is no failure: the message is on its way, and its own row says what becomes of it. */
export function hasFailed({ state }: Delivered): boolean {
  return state !== undefined && state !== "done" && state !== "pending";
}

/** Completion of a row that has ended, also in an earlier process; undefined while it has not. */
export function completionOf({ state, result }: Pick<DeliveryRow, "state" | "result">): Completion | undefined {
  if (state !== "done" && state !== "failed" && state !== "expired") return undefined;
  const stored = result?.completion;
  if (isCompletion(stored)) return stored;
  return { status: result?.status === "skipped" ? "skipped" : "error", replyDisposition: "empty" };
}

function isCompletion(value: unknown): value is Completion {
  return typeof value === "object" && value !== null && typeof (value as JsonObject).status === "string";
}
