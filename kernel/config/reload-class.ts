import type { ReloadClass } from "../../sdk/types/reload.ts";
import { childSchema, schemaMeta } from "../secrets/schema-walk.ts";
import { pathSteps } from "./diff.ts";
import { rootSchema } from "./root-schema.ts";

/** Rule that says how one changed path is applied. */
export interface ReloadRule {
  reload: ReloadClass;
  /** Dotted path of what decides, keys as given: `plugins.entries.irc`, `gateway.auth.rateLimit`; `""` when nothing matches. */
  prefix: string;
  /** Action in words. */
  action: string;
  /** Plugin that is replaced or told. */
  plugin?: string;
  /** Channel that restarts; absent for `channels.defaults`, which concerns all. */
  channel?: string;
  /** Account of it, when only that one restarts. */
  account?: string;
}

/** Actions by path prefix; `*` is one segment. */
const actions: ReadonlyArray<readonly [prefix: string, action: string]> = [
  ["hooks", "rebuild the webhook ingress"],
  ["agents.list", "re-arm heartbeats, rebuild the routing"],
  ["agents.defaults.heartbeat", "re-arm heartbeats"],
  ["agents.list.*.heartbeat", "re-arm heartbeats"],
  ["agents.defaults.model", "re-arm heartbeats"],
  ["agents.defaults.models", "re-arm heartbeats"],
  ["agents.list.*.model", "re-arm heartbeats"],
  ["models", "rebuild model providers, re-arm heartbeats"],
  ["agents.defaults.workspace", "prepare the workspaces of the affected agents"],
  ["agents.list.*.workspace", "prepare the workspaces of the affected agents"],
  ["agents.defaults.memorySearch", "rebuild memory managers of the affected agents"],
  ["agents.list.*.memorySearch", "rebuild memory managers of the affected agents"],
  ["memory", "rebuild memory managers of the affected agents"],
  ["cron", "restart the scheduler"],
  ["logging", "re-read by the log"],
  ["diagnostics", "re-read by the counters"],
  ["channels.defaults", "restart all running channels, staggered"],
  ["channels.*", "restart that channel"],
  ["channels.*.accounts.*", "restart that account"],
  ["plugins.entries.*", "replace that plugin"],
  ["diagnostics.otel", "replace that plugin"],
  ["diagnostics.prometheus", "replace that plugin"],
  ["secrets", "resolve secrets again, apply changed owners"],
  ["gateway.auth.token", "close sockets that used the old secret"],
  ["gateway.auth.password", "close sockets that used the old secret"],
  ["gateway.auth.rateLimit", "re-read by the next request"],
  ["gateway.auth.trustedProxy", "close sockets that are no longer let in"],
  ["gateway.auth.allowTailscale", "close sockets that are no longer let in"],
  ["gateway.trustedProxies", "close sockets that are no longer let in"],
  ["gateway.controlUi.allowedOrigins", "re-read by the next request"],
  ["gateway.http", "re-read by the next request"],
  ["gateway.tools", "re-read by the next request"],
  ["gateway.channelHealthCheckMinutes", "re-arm the channel check"],
  ["gateway.channelStaleEventThresholdMinutes", "re-arm the channel check"],
  ["gateway.channelMaxRestartsPerHour", "re-arm the channel check"],
];

const defaultActions: Record<ReloadClass, string> = {
  none: "swap only",
  hot: "re-read by its subsystem",
  plugin: "replace that plugin",
  channel: "restart that channel",
  restart: "restart the gateway",
};

/**
 * Reload rule of a path: the longest prefix with a reload class in the key tree wins; an unknown path needs a restart. Pure.
 * Reload classes from plugin manifests are applied elsewhere: see `classifyChanges`.
 *
 * @param path dotted, with brackets where needed: `agents.list[id=ops].model`, `models.providers["my.vendor"]`
 */
export function reloadClassOf(path: string): ReloadRule {
  const steps = pathSteps(path);
  const known = classInTree(steps);
  const action = actionOf(steps);
  const depth = Math.max(known.depth, action?.depth ?? 0);
  return {
    reload: known.reload,
    prefix: joinSteps(steps.slice(0, depth)),
    action: action && action.depth >= known.depth ? action.text : defaultActions[known.reload],
    ...ownerOf(steps),
  };
}

function joinSteps(steps: readonly string[]): string {
  return steps.reduce((path, step) => {
    if (step.startsWith("[")) return `${path}${step}`;
    if (/[.[\]"\s]/.test(step)) return `${path}[${JSON.stringify(step)}]`;
    return path === "" ? step : `${path}.${step}`;
  }, "");
}

/** Class of the deepest schema on the way that names one. */
function classInTree(segments: readonly string[]): { reload: ReloadClass; depth: number } {
  let schema: unknown = rootSchema;
  let found: { reload: ReloadClass; depth: number } = { reload: "restart", depth: 0 };
  for (const [i, segment] of segments.entries()) {
    schema = childSchema(schema, segment);
    if (!schema) return found;
    const reload = schemaMeta(schema).reload as ReloadClass | undefined;
    if (reload) found = { reload, depth: i + 1 };
  }
  return found;
}

function actionOf(segments: readonly string[]): { text: string; depth: number } | undefined {
  let best: { text: string; depth: number } | undefined;
  for (const [prefix, text] of actions) {
    const parts = prefix.split(".");
    if (parts.length > (best?.depth ?? 0) && parts.every((part, i) => i < segments.length && (part === "*" || part === segments[i])))
      best = { text, depth: parts.length };
  }
  return best;
}

function ownerOf(segments: readonly string[]): Pick<ReloadRule, "plugin" | "channel" | "account"> {
  const [first, second, third, fourth] = segments;
  if (first === "plugins" && second === "entries" && third !== undefined) return { plugin: third };
  if (first === "diagnostics" && (second === "otel" || second === "prometheus")) return { plugin: `diagnostics-${second}` };
  if (first !== "channels" || second === undefined || second === "defaults") return {};
  return third === "accounts" && fourth !== undefined ? { channel: second, account: fourth } : { channel: second };
}
