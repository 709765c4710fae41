import { cutEnd, type JsonObject, oneLine } from "svc/sdk";
import type { Reply } from "svc/sdk/internal";
import type { HeartbeatDelivery } from "../runs/deliver.ts";
import { unframed } from "../sessions/display.ts";
import type { HeartbeatSettings } from "./settings.ts";

const MAX_PREVIEW_CHARS = 200;

/** Payload of the event `heartbeat`, and what `last-heartbeat` answers. */
export interface HeartbeatReport extends JsonObject {
  ts: number;
  agentId: string;
  sessionKey?: string;
  status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed";
  /** Reason why it was skipped, why it failed, or why an answer with news went nowhere. */
  reason?: string;
  preview?: string;
  durationMs?: number;
  channel?: string;
  to?: string;
  accountId?: string;
  silent?: boolean;
  indicatorType?: "ok" | "alert" | "error";
}

/** Reasons why a heartbeat did not take place. */
export type SkipReason =
  | "disabled"
  | "quiet-hours"
  | "lane-busy"
  | "still-running"
  | "empty-checklist"
  | "no-language-model"
  | `blocked: ${string}`;

/** A heartbeat that did not take place. */
export function skipped(ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey">, reason: SkipReason): HeartbeatReport {
  return { ...ids, status: "skipped", reason: cutEnd(reason, MAX_PREVIEW_CHARS) };
}

/** Describes the result of a heartbeat that ran. */
export function told(
  ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey" | "durationMs">,
  reply: Exclude<Reply, { kind: "news" }>,
): HeartbeatReport {
  if (reply.kind === "empty") return { ...ids, status: "ok-empty", ...(reply.silent ? { silent: true } : {}), indicatorType: "ok" };
  return { ...ids, status: "ok-token", ...(reply.rest === "" ? {} : { preview: previewOf(reply.rest) }), indicatorType: "ok" };
}

/** News, and what became of them. They stay in the session in any case. */
export function news(
  ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey" | "durationMs">,
  text: string,
  { target, to, accountId, delivery }: Pick<HeartbeatSettings, "target" | "to" | "accountId"> & { delivery: HeartbeatDelivery | undefined },
): HeartbeatReport {
  const told = delivery ?? { status: "skipped" as const, reason: "no-target" };
  const isNamed = delivery !== undefined && target !== "last";
  const place = isNamed ? { channel: target, ...(to === undefined ? {} : { to }), ...(accountId === undefined ? {} : { accountId }) } : {};
  const reason = "reason" in told ? { reason: cutEnd(told.reason, MAX_PREVIEW_CHARS) } : {};
  return { ...ids, ...place, ...told, ...reason, preview: previewOf(text), indicatorType: told.status === "failed" ? "error" : "alert" };
}

/** One that broke off. */
export function failed(
  ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey" | "durationMs">,
  error: { code?: string | undefined; message: string },
): HeartbeatReport {
  const reason = error.code === undefined ? error.message : `${error.code}: ${error.message}`;
  return { ...ids, status: "failed", reason: cutEnd(reason, MAX_PREVIEW_CHARS), indicatorType: "error" };
}

function previewOf(text: string): string {
  return oneLine(unframed(text), MAX_PREVIEW_CHARS);
}
