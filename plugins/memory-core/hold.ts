import type { MemoryStage, PluginContext } from "svc/sdk";

/** Memory shared with the threads of indexes: it holds 1 while the process is short of memory, and indexing pauses. */
export function holdUnderPressure(ctx: PluginContext): SharedArrayBuffer {
  const hold = new SharedArrayBuffer(4);
  const follow = (stage: MemoryStage) => void Atomics.store(new Int32Array(hold), 0, stage === "none" ? 0 : 1);
  follow(ctx.service("gateway@1").memoryStage());
  ctx.on("gateway.pressure", ({ stage }) => follow(stage));
  return hold;
}
