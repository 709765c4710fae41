import type { PluginContext } from "svc/sdk";
import { registerTools, type ToolOptions, toolsKey } from "./register-tools.ts";
import type { MemoryService } from "./service.ts";
import { resolveMemorySettings } from "./settings.ts";

/** Registers the tools of agents that have a memory, and takes changed settings without another instance. */
export function followConfig(
  ctx: PluginContext,
  memory: MemoryService,
  { stateDir, ...options }: ToolOptions & { stateDir: string },
): void {
  let tools = registerTools(ctx, memory, options);
  ctx.onReload({
    // Adapters read the keys of their vendors below `models` when they open a provider.
    prefixes: ["agents", "memory", "models"],
    async prepare(next, _prev, { paths }) {
      const reopenProviders = paths.some((path) => path.startsWith("models"));
      const changed = resolveMemorySettings(next, stateDir);
      return {
        apply() {
          memory.reconfigure(changed, { reopenProviders });
          if (tools.key === toolsKey(changed)) return;
          tools.dispose();
          tools = registerTools(ctx, memory, { ...options, settings: changed });
        },
        discard: () => undefined,
      };
    },
  });
}
