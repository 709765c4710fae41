import { definePlugin } from "svc/sdk";
import { memoryHealth } from "./health.ts";
import { buildPrompt } from "./prompt.ts";
import { registerMemoryRpc } from "./rpc.ts";
import { createMemoryService } from "./service.ts";
import { resolveMemorySettings, sharedStoreIssues } from "./settings.ts";
import { memoryGetTool, memorySearchTool } from "./tools.ts";

/** Search over the agents' notes: files stay the truth, the index is derived and can always be made anew. */
export default definePlugin({
  id: "memory-core",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const gateway = ctx.service("gateway@1");
    const { stateDir } = gateway.info();
    const settings = resolveMemorySettings(ctx.snapshot(), stateDir);
    const memory = createMemoryService(ctx, settings, () => gateway.invalidateHealth());
    ctx.onDispose(() => memory.close());

    ctx.registerService("memory@1", memory);
    registerMemoryRpc(ctx, memory);
    if (settings.some((one) => one.enabled)) {
      ctx.registerTool(memorySearchTool(memory));
      ctx.registerTool(memoryGetTool(memory));
    }
    ctx.on("prompt.build", (event) => buildPrompt(event, settings));
    ctx.on("health.collect", (_, meta) => meta.report(memoryHealth(memory)));
    ctx.on("config.validate", ({ config }, meta) => {
      for (const issue of sharedStoreIssues(resolveMemorySettings(config, stateDir))) meta.report(issue);
    });
    // After boot, so that the first answers do not wait for a thread and a scan.
    ctx.on("gateway.ready", () => void memory.startBackground());
  },
});
