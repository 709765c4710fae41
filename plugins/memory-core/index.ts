import { type Disposable, definePlugin, type PluginContext } from "svc/sdk";
import { memoryHealth } from "./health.ts";
import { registerMemoryRpc } from "./rpc.ts";
import { createMemoryService, type MemoryService } from "./service.ts";
import { type AgentMemorySettings, resolveMemorySettings, sharedStoreIssues } from "./settings.ts";
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
    let tools = registerTools(ctx, memory, settings);
    ctx.onReload({
      prefixes: ["agents", "memory"],
      async prepare(next) {
        const changed = resolveMemorySettings(next, stateDir);
        return {
          apply() {
            memory.reconfigure(changed);
            if (tools.key === toolsKey(changed)) return;
            tools.dispose();
            tools = registerTools(ctx, memory, changed);
          },
          discard: () => undefined,
        };
      },
    });
    ctx.on("health.collect", (_, meta) => meta.report(memoryHealth(memory)));
    ctx.on("config.validate", ({ config }, meta) => {
      for (const issue of sharedStoreIssues(resolveMemorySettings(config, stateDir))) meta.report(issue);
    });
    // After boot, so that the first answers do not wait for a thread and a scan; a command that borrows the plugin says itself what it needs.
    ctx.on("gateway.ready", () => void (gateway.info().port > 0 && memory.startBackground()));
  },
});

/** Who has the tools: none of them stands in a prompt for nothing. */
function registerTools(ctx: PluginContext<unknown>, memory: MemoryService, settings: readonly AgentMemorySettings[]) {
  const kept: Disposable[] = [];
  const without = new Set(settings.filter((one) => !one.enabled).map((one) => one.agentId));
  if (without.size < settings.length) kept.push(ctx.registerTool(memorySearchTool(memory)), ctx.registerTool(memoryGetTool(memory)));
  if (without.size > 0) kept.push(ctx.on("prompt.build", (event) => (without.has(event.agentId) ? withoutMemoryTools(event) : undefined)));
  return { key: toolsKey(settings), dispose: () => kept.forEach((one) => void one.dispose()) };
}

function toolsKey(settings: readonly AgentMemorySettings[]): string {
  const without = settings.filter((one) => !one.enabled).map((one) => one.agentId);
  return JSON.stringify([without.length < settings.length, without]);
}
