import type { ProtocolEvent } from "../../sdk/protocol/events.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";
import type { Contributes } from "../../sdk/types/manifest.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";

/** Points that the gateway reads itself, and the one way in. */
export const closedPoints: Readonly<Record<string, string>> = { reload: "ctx.onReload", uiPanel: "ctx.registerUiPanel" };

const kernelEvents: ReadonlySet<string> = new Set<ProtocolEvent>([
  "connect.challenge",
  "tick",
  "shutdown",
  "health",
  "presence",
  "config.changed",
  "plugins.changed",
  "device.pair.requested",
  "device.pair.resolved",
]);

/** Events that only the gateway itself and the bundled plugin that declares them send: clients act upon them. */
export function isKernelEvent(event: string): boolean {
  return kernelEvents.has(event);
}

/**
 * The bundled plugin that declares such a name and is not switched off: nobody from outside has it then, whoever would come first. It is kept
 * for a bundled plugin that failed as well; whoever wants to replace one switches it off.
 *
 * @param isSame does a declared name stand in the way?
 */
export function reservedBy(
  plugins: Iterable<{ readonly candidate: PluginCandidate; readonly record: PluginRecord }>,
  kind: keyof Contributes,
  isSame: (declared: string) => boolean,
): string | undefined {
  for (const { candidate, record } of plugins) {
    if (candidate.origin !== "bundled" || record.state === "disabled" || record.state === "blocked") continue;
    if (candidate.manifest?.contributes?.[kind]?.some(isSame)) return candidate.id;
  }
  return undefined;
}

/** Could this route answer a path that belongs to a declared one? The declared route may be a prefix; the fallback belongs to who declares `*`. */
export function reachesInto({ path, match, fallback }: HttpRoute, declared: string): boolean {
  if (fallback || declared === "*") return fallback === true && declared === "*";
  return isAt(path, declared) || (match === "prefix" && isAt(declared, path));
}

function isAt(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix === "/" ? prefix : `${prefix}/`);
}
