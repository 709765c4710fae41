import { definePlugin } from "svc/sdk";
import { registerSidecarDoctor } from "./doctor.ts";
import { createSidecar } from "./sidecar.ts";

/** The engine `sidecar` of the memory: an external program with an index for each agent. Hardly anything of it is loaded while `memory.backend` is another one. */
export default definePlugin({
  id: "memory-sidecar",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    const sidecar = await createSidecar(ctx);
    ctx.onDispose(() => sidecar.backend.close());
    ctx.registerMemoryBackend(sidecar.backend);
    registerSidecarDoctor(ctx, () => sidecar.opened());
    ctx.onReload({
      prefixes: ["agents", "memory"],
      prepare: async (next) => ({ apply: await sidecar.prepare(next), discard: () => undefined }),
    });
    return { start: () => sidecar.start() };
  },
});
