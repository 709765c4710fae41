import type { ResultOf } from "svc/sdk";
import { ownValue } from "svc/sdk/internal";

type Written = Pick<ResultOf<"config.patch">, "noop" | "action" | "pendingRestart" | "changedPaths" | "config">;

/** Closing note of a write, by the reload mode in force: `hot` and `off` leave a restart to the operator, the others make it themselves. Pure. */
export function closingNote({ noop, action, pendingRestart, changedPaths, config }: Written): string {
  if (noop) return "No change.";
  if (action !== "restart") return "Applied live by the running gateway.";
  const paths = (pendingRestart.length > 0 ? pendingRestart : changedPaths).join(", ");
  const mode = ownValue(ownValue(ownValue(config, "gateway"), "reload"), "mode");
  if (mode === "hot" || mode === "off") return `Restart needed: svc gateway restart (${paths})`;
  return `The gateway restarts by itself to apply it, once its active runs are done (${paths}).`;
}
