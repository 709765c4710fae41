import { definePlugin } from "svc/sdk";
import type { BackedMemory } from "./backend/backed-memory.ts";
import { checkBackend } from "./backend/check-backend.ts";
import { createDreaming } from "./dreaming/dreaming.ts";
import { memoryCoreConfig } from "./dreaming/settings.ts";
import { followConfig } from "./follow-config.ts";
import { openMemory } from "./open-memory.ts";
import { registerMemoryService } from "./register-service.ts";
import { createSessionFeed } from "./sessions/feed.ts";
import { checkSharedStores, resolveMemorySettings } from "./settings.ts";

/** Search over the agents' notes: files stay the truth, the index is derived and can always be rebuilt. */
export default definePlugin({
  id: "memory-core",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  config: memoryCoreConfig,
  setup(ctx) {
    const gateway = ctx.service("gateway@1");
    const { stateDir } = gateway.info();
    const settings = resolveMemorySettings(ctx.snapshot(), stateDir);
    const sessions = createSessionFeed(ctx, () => memory.indexed);
    ctx.onDispose(() => sessions.dispose());
    const memory: BackedMemory = openMemory(ctx, settings, sessions);
    // An index may still fail while it is closed.
    ctx.onDispose(() => memory.close().finally(() => gateway.setReadiness("memoryIndex", undefined)));

    registerMemoryService(ctx, memory);
    const dreaming = createDreaming(ctx, memory, ctx.config.dreaming);
    ctx.onDispose(() => dreaming.dispose());
    followConfig(ctx, memory, { stateDir, settings, recalled: dreaming.recalled });
    checkSharedStores(ctx, stateDir);
    checkBackend(ctx);
    // A plugin that is loaded on first use registers nothing until somebody asks for its adapter.
    ctx.on("plugin.state", ({ to }) => void (to === "ready" && memory.pluginWaits()));
    // After boot, so that the first answers do not wait for a thread and a scan; a command that borrows the plugin says itself what it needs.
    ctx.on("gateway.ready", () => {
      if (gateway.info().port === 0) return;
      void memory.startBackground();
      sessions.follow();
    });
    return {
      async onConfigChange(next) {
        await dreaming.configure(next.dreaming);
        return true;
      },
    };
  },
});
