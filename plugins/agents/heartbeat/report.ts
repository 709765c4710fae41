import type { JsonObject, Reply } from "svc/sdk";
import { cutEnd } from "../common/cut.ts";
import type { HeartbeatSettings } from "./settings.ts";

const MAX_PREVIEW_CHARS = 200;

/** Payload of the event `heartbeat`, and what `last-heartbeat` answers (`protocol-methods.md` 13). */
export interface HeartbeatReport extends JsonObject {
  ts: number;
  agentId: string;
  sessionKey?: string;
  status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed";
  /** Why it was skipped, why it failed, or why an answer with news went nowhere. */
  reason?: string;
  preview?: string;
  durationMs?: number;
  channel?: string;
  to?: string;
  accountId?: string;
  silent?: boolean;
  indicatorType?: "ok" | "alert" | "error";
}

/** Why a heartbeat did not take place. */
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

/** What came of one that did. */
export function told(
  ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey" | "durationMs">,
  reply: Reply,
  settings: Pick<HeartbeatSettings, "target" | "to" | "accountId">,
): HeartbeatReport {
  if (reply.kind === "empty") return { ...ids, status: "ok-empty", ...(reply.silent ? { silent: true } : {}), indicatorType: "ok" };
  if (reply.kind === "ack")
    return { ...ids, status: "ok-token", ...(reply.rest === "" ? {} : { preview: previewOf(reply.rest) }), indicatorType: "ok" };
  return { ...ids, status: "skipped", ...undelivered(settings), preview: previewOf(reply.text), indicatorType: "alert" };
}

/** One that broke off. */
export function failed(
  ids: Pick<HeartbeatReport, "ts" | "agentId" | "sessionKey" | "durationMs">,
  error: { code?: string | undefined; message: string },
): HeartbeatReport {
  const reason = error.code === undefined ? error.message : `${error.code}: ${error.message}`;
  return { ...ids, status: "failed", reason: cutEnd(reason, MAX_PREVIEW_CHARS), indicatorType: "error" };
}

/** News stay in the session and its events: no channel is part of this release, so nothing is sent and nobody is told that it was. */
function undelivered({ target, to, accountId }: Pick<HeartbeatSettings, "target" | "to" | "accountId">): Partial<HeartbeatReport> {
  if (target === "none") return { reason: "no-target" };
  if (target === "last") return { reason: "no-route" };
  return {
    reason: "channel-unavailable",
    channel: target,
    ...(to === undefined ? {} : { to }),
    ...(accountId === undefined ? {} : { accountId }),
  };
}

function previewOf(text: string): string {
  return cutEnd(text.replace(/\s+/g, " ").trim(), MAX_PREVIEW_CHARS);
}
