import { methodOf, type PluginContext } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { explainRun } from "../traces/explain.ts";
import { Replays } from "../traces/replay.ts";

/** `sessions.explain` and `runs.replay`. */
export function registerTraceMethods(ctx: PluginContext, kit: Kit): void {
  const replays = new Replays();
  ctx.registerRpc({ ...methodOf(servedMethods, "sessions.explain"), handler: (params) => explainRun(kit, params) });
  ctx.registerRpc({ ...methodOf(servedMethods, "runs.replay"), handler: (params, call) => replays.run(kit, params, call.signal) });
}
