import { definePlugin } from "svc/sdk";
import { memoryHealth } from "./health.ts";
import { registerMemoryRpc } from "./rpc.ts";
import { createMemoryService } from "./service.ts";
import { resolveMemorySettings, sharedStoreIssues } from "./settings.ts";
import { memoryGetTool, memorySearchTool, withoutMemoryTools } from "./tools.ts";

/** Search over the agents' notes: files stay the truth, the index is derived and can always be made anew. */
export default definePlugin({
  id: "memory-core",
  version: "0.1.0",
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
    const without = new Set(settings.filter((one) => !one.enabled).map((one) => one.agentId));
    if (without.size > 0) ctx.on("prompt.build", (event) => (without.has(event.agentId) ? withoutMemoryTools(event) : undefined));
    ctx.on("health.collect", (_, meta) => meta.report(memoryHealth(memory)));
    ctx.on("config.validate", ({ config }, meta) => {
      for (const issue of sharedStoreIssues(resolveMemorySettings(config, stateDir))) meta.report(issue);
    });
    // After boot, so that the first answers do not wait for a thread and a scan; a command that borrows the plugin says itself what it needs.
    ctx.on("gateway.ready", () => void (gateway.info().port > 0 && memory.startBackground()));
  },
});
