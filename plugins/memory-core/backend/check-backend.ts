import type { MemoryBackend, PluginContext } from "svc/sdk";
import { BUILTIN } from "./backed-memory.ts";
import { memoryBackendId } from "./backend-id.ts";

/** Refuses a changed config that names a backend nobody offers. At the start the memory itself says so, and the builtin engine searches. */
export function checkBackend(ctx: Pick<PluginContext, "on" | "contributions">): void {
  ctx.on("config.validate", ({ config, paths }, meta) => {
    const backend = memoryBackendId(config);
    if (paths.length === 0 || backend === BUILTIN) return;
    const offered = [...ctx.contributions<MemoryBackend>("memoryBackend")].map(({ id }) => id);
    if (offered.includes(backend)) return;
    const names = [BUILTIN, ...offered].join(", ");
    meta.report({
      path: "memory.backend",
      message: `no plugin that runs offers the memory backend "${backend}"; expected one of ${names}; install or enable its plugin first`,
    });
  });
}
