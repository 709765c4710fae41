import { defaultAgentId, methodOf, type PluginContext } from "svc/sdk";
import { indexedSoon, type NoteHost, readNote, writeNote } from "./note-files.ts";
import { memoryMethods } from "./protocol-methods.ts";

/** `memory.files.*`: an agent's notes as files. */
export function registerNoteRpc(ctx: Pick<PluginContext, "registerRpc" | "snapshot" | "logger">, host: NoteHost): void {
  const agentOf = (params: { agentId?: string | undefined }) => params.agentId ?? defaultAgentId(ctx.snapshot());

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.files.get"),
    async handler({ path, ...params }) {
      const agentId = agentOf(params);
      return { agentId, file: await readNote(host.workspaceOf(agentId), path) };
    },
  });

  ctx.registerRpc({
    ...methodOf(memoryMethods, "memory.files.set"),
    async handler({ path, content, expectedHash, ...params }, call) {
      const agentId = agentOf(params);
      const file = await writeNote(host.workspaceOf(agentId), { path, content, expectedHash });
      ctx.logger.info(`memory.files.set: wrote a note of agent "${agentId}"`, { path: file.path, bytes: file.size });
      return { ok: true, agentId, file, indexed: await indexedSoon(host, { agentId, signal: call.signal }) };
    },
  });
}
