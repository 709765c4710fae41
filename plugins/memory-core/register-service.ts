import type { PluginContext } from "svc/sdk";
import { registerMemoryDoctor } from "./doctor.ts";
import { memoryHealth } from "./health.ts";
import { createNoteHost } from "./note-files.ts";
import { registerNoteRpc } from "./note-rpc.ts";
import { registerMemoryRpc } from "./rpc.ts";
import type { MemoryService } from "./service.ts";

/** Offers the memory to other plugins, to clients, and to `svc doctor` and `svc health`. */
export function registerMemoryService(ctx: PluginContext, memory: MemoryService): void {
  ctx.registerService("memory@1", memory);
  registerMemoryRpc(ctx, memory);
  registerNoteRpc(ctx, createNoteHost(memory));
  registerMemoryDoctor(ctx, memory);
  ctx.on("health.collect", (_, meta) => meta.report(memoryHealth(memory)));
}
