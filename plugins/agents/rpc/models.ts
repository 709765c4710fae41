import { methodOf, type PluginContext } from "svc/sdk";
import { KeyedMutex } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { modelList } from "../models/list.ts";
import { modelReport } from "../models/report.ts";
import { setModel } from "../models/set-default.ts";
import { ModelTests } from "../models/test-call.ts";
import { servedMethods } from "../protocol/methods.ts";

/** `models.list`, `models.status`, `models.test`, `models.set`. */
export function registerModelsMethods(ctx: PluginContext, kit: Kit): void {
  const tests = new ModelTests();
  const changes = new KeyedMutex();
  ctx.registerRpc({ ...methodOf(servedMethods, "models.list"), handler: (params) => modelList(kit, params) });
  ctx.registerRpc({
    ...methodOf(servedMethods, "models.status"),
    handler: async ({ probe = false }) => {
      await kit.catalog.ready();
      if (probe) await kit.modelStates.refresh("all");
      return modelReport(kit);
    },
  });
  ctx.registerRpc({ ...methodOf(servedMethods, "models.test"), handler: (params, call) => tests.run(kit, params, call.signal) });
  // One after the other: the present fallbacks are read before the write.
  ctx.registerRpc({ ...methodOf(servedMethods, "models.set"), handler: (params) => changes.run("models", () => setModel(kit, params)) });
}
