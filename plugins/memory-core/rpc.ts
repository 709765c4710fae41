import { defaultAgentId, methodOf, type PluginContext } from "svc/sdk";
import { createProgressEvents } from "./open-agent.ts";
import { memoryMethods } from "./protocol-methods.ts";
import type { MemoryService } from "./service.ts";

/** The `memory.*` methods of the control protocol. */
export function registerMemoryRpc(ctx: Pick<PluginContext, "registerRpc" | "snapshot" | "emit">, memory: MemoryService): void {
  const agentOf = (params: { agentId?: string | undefined }) => params.agentId ?? defaultAgentId(ctx.snapshot());

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.search"),
    async handler(params, call) {
      const agentId = agentOf(params);
      const { maxResults, minScore } = params;
      const limits = { ...(maxResults === undefined ? {} : { maxResults }), ...(minScore === undefined ? {} : { minScore }) };
      const found = await memory.search(agentId, params.query, { ...limits, citations: "off", signal: call.signal });
      const { results, provider, mode, partial, degraded, unavailable, error, warning, action } = found;
      return { agentId, provider, searchMode: mode, results, partial, degraded, unavailable, error, warning, action };
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.get"),
    handler({ path, from, lines, ...params }) {
      return memory.get(agentOf(params), path, { ...(from === undefined ? {} : { from }), ...(lines === undefined ? {} : { lines }) });
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.status"),
    handler: ({ deep = false, ...params }) => memory.status(agentOf(params), { files: true, deep }),
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "doctor.memory.status"),
    async handler({ probe = false, ...params }) {
      const agentId = agentOf(params);
      const found = await memory.providerState(agentId, { probe });
      return { agentId, ...found };
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.index"),
    // Two answers, because a rebuild may take minutes: what was begun, then that it is done.
    async handler({ force = false, ...params }, call) {
      const agentId = agentOf(params);
      memory.requireUsable(agentId);
      const { syncing } = await memory.status(agentId);
      const sync = memory.sync(agentId, { force, reason: "rpc" });
      call.accept({ status: "accepted", agentId, started: force || !syncing, joined: syncing && !force });
      return { agentId, ...(await sync) };
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.prepare"),
    // Two answers, because a download may take long. It goes on when the caller leaves: what came is not lost.
    async handler({ provider, modelPath, ...params }, call) {
      const agentId = agentOf(params);
      memory.provider(agentId);
      call.accept({ status: "accepted", agentId, provider });
      const events = createProgressEvents((progress) => ctx.emit("memory.progress", { agentId, ...progress }));
      const onProgress = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) =>
        events.push({ phase: "download", done: doneBytes, total: totalBytes });
      try {
        await memory.prepare(agentId, { provider, ...(modelPath === undefined ? {} : { modelPath }), onProgress });
      } finally {
        void events.dispose();
      }
      return { agentId, provider };
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.reset"),
    async handler(params) {
      const agentId = agentOf(params);
      return { agentId, ...(await memory.reset(agentId)) };
    },
  });
}
