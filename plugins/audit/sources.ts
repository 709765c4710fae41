import { type ClientInfo, cleanExternalLine, isRecord, messageOf, oneLine, type PluginContext } from "svc/sdk";
import type { Actor, Details } from "./entry.ts";
import type { AuditLog } from "./log.ts";

const MAX_VALUE_CHARS = 200;
const MAX_PATHS = 20;
/** A client that connects again and again is one entry a minute. */
const LOGIN_MS = 60_000;
const MAX_LOGINS = 1_000;

/** Parameters of methods that say what an act was about; values of settings, texts and codes are none of them. */
const telling = [
  "path",
  "key",
  "sessionKey",
  "agentId",
  "deviceId",
  "requestId",
  "id",
  "uid",
  "channel",
  "accountId",
  "to",
  "name",
  "role",
  "decision",
];

const gateway: Actor = { kind: "gateway", id: "gateway" };

/** Reports what is done in this gateway to the log. */
export function watchActs(ctx: PluginContext, log: Pick<AuditLog, "add">): void {
  watchOperators(ctx, log);
  watchAgents(ctx, log);
  ctx.on("config.changed", ({ paths }) =>
    log.add({ action: "config.changed", actor: gateway, outcome: "ok", details: { paths: shown(namesOf(paths)), count: paths.length } }),
  );
  ctx.on("approval.resolved", ({ id, kind, decision, by, reason, agentId = "", sessionKey = "" }) => {
    const actor: Actor = by === null ? gateway : { kind: "operator", id: shown(by) };
    const details = {
      id: shown(id),
      decision,
      ...(reason === undefined ? {} : { reason }),
      agentId: shown(agentId),
      sessionKey: shown(sessionKey),
    };
    log.add({ action: "approval.resolved", actor, target: kind, outcome: "ok", details });
  });
  ctx.on("plugin.state", ({ id, to }) => {
    if (to === "failed" || to === "degraded" || to === "blocked")
      log.add({ action: `plugin.${to}`, actor: gateway, target: id, outcome: "error" });
  });
  ctx.on("gateway.ready", () => {
    const { version, bootId } = ctx.service("gateway@1").info();
    log.add({ action: "gateway.started", actor: gateway, outcome: "ok", details: { version, bootId } });
  });
}

function watchOperators(ctx: PluginContext, log: Pick<AuditLog, "add">): void {
  ctx.on("operator.acted", ({ method, params, client, ok, code }) => {
    const details = { ...detailsOf(params), ...(code === undefined ? {} : { code }) };
    log.add({ action: method, actor: operatorOf(client), outcome: ok ? "ok" : "error", details });
  });
  const logins = new Map<string, number>();
  const connected = (client: ClientInfo) => {
    const actor = operatorOf(client);
    const way = client.deviceId !== undefined ? "device" : client.identity !== undefined ? "identity" : "shared-secret";
    const key = `${way} ${actor.id} ${actor.remote}`;
    const now = ctx.clock.monotonic();
    if (now - (logins.get(key) ?? Number.NEGATIVE_INFINITY) < LOGIN_MS) return;
    if (logins.size >= MAX_LOGINS) logins.clear();
    logins.set(key, now);
    const details = { way, client: shown(client.clientId), scopes: client.scopes.join(" ") };
    log.add({ action: "operator.connected", actor, outcome: "ok", details });
  };
  // A gate, because it alone knows who connects; it never refuses, whatever happens.
  ctx.on("ws.connect", ({ client }) => {
    try {
      connected(client);
    } catch (error) {
      ctx.logger.error("a login could not be recorded", { error: messageOf(error) });
    }
  });
}

function watchAgents(ctx: PluginContext, log: Pick<AuditLog, "add">): void {
  ctx.on("tool.after", ({ tool, ok, runId, agentId, sessionKey, ms }) => {
    const details = { runId, sessionKey: shown(sessionKey), ms: Math.round(ms) };
    log.add({ action: "tool.called", actor: { kind: "agent", id: agentId }, target: tool, outcome: ok ? "ok" : "error", details });
  });
  ctx.on("tool.refused", ({ tool, reason, origin, runId, agentId, sessionKey, isLast }) => {
    const details = { runId, sessionKey: shown(sessionKey), origin, reason, ...(isLast ? { isLast } : {}) };
    log.add({ action: "tool.refused", actor: { kind: "agent", id: agentId }, target: shown(tool), outcome: "error", details });
  });
  ctx.on("outbound.sent", ({ uid, channel, to, agentId, origin, attempt }) =>
    log.add({
      action: "message.sent",
      actor: { kind: "agent", id: agentId },
      target: shown(to === undefined ? channel : `${channel}:${to}`),
      outcome: "ok",
      details: { uid, origin, attempt },
    }),
  );
  ctx.on("outbound.failed", ({ uid, channel, to, agentId, origin, attempt, permanent, outcome }) => {
    if (!permanent) return;
    const target = shown(to === undefined ? channel : `${channel}:${to}`);
    log.add({
      action: "message.failed",
      actor: { kind: "agent", id: agentId },
      target,
      outcome: "error",
      details: { uid, origin, attempt, end: outcome },
    });
  });
}

function operatorOf({ identity, deviceId, clientId, remote }: ClientInfo): Actor {
  return { kind: "operator", id: shown(identity ?? deviceId ?? clientId), remote: shown(remote) };
}

/** The telling parameters of a call, as short texts. */
export function detailsOf(params: unknown): Details {
  if (!isRecord(params)) return {};
  const details: Details = {};
  for (const name of telling) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (typeof value === "string") details[name] = shown(value);
    else if (typeof value === "number") details[name] = value;
  }
  return details;
}

function namesOf(paths: readonly string[]): string {
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : "";
  return paths.slice(0, MAX_PATHS).join(", ") + more;
}

/** One line without control characters; a log is read on terminals, and by agents. */
function shown(text: string): string {
  return oneLine(cleanExternalLine(text), MAX_VALUE_CHARS);
}
