import { formatTime } from "./text.ts";

/** State of the config reloads of the gateway that answers. */
export interface ReloadFigures {
  status: "active" | "off" | "invalid" | "rejected";
  /** Changed paths that wait for a restart. */
  pendingRestart: string[];
  issues: Array<{ path: string; message: string }>;
  /** Epoch ms. */
  since: number;
}

/** `health.configReload` of a hello; undefined when that gateway tells none. */
export function reloadFigures(hello: unknown): ReloadFigures | undefined {
  const { snapshot } = (hello ?? {}) as { snapshot?: { health?: { configReload?: ReloadFigures } } };
  const found = snapshot?.health?.configReload;
  if (!found) return undefined;
  const { status, pendingRestart, issues, since } = found;
  return { status, pendingRestart, issues, since };
}

/** `active`, `off`, `invalid since …`, `restart pending: gateway.port`. */
export function reloadLine({ status, pendingRestart, issues, since }: ReloadFigures): string {
  const pending = pendingRestart.length > 0 ? `restart pending: ${pendingRestart.join(", ")}` : undefined;
  if (status === "invalid" || status === "rejected") {
    const why = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
    return [`${status} since ${formatTime(since)}: ${why}`, pending].filter(Boolean).join("; ");
  }
  if (status === "off") return ["off (gateway.reload.mode)", pending].filter(Boolean).join("; ");
  return pending ?? "active";
}
