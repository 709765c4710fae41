import { type AgentInfo, methodOf, type PluginContext } from "svc/sdk";
import { inWorkspace } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { type AgentFile, listAgentFiles, readAgentFile, writeAgentFile } from "../workspace/agent-files.ts";
import { ensureWorkspace } from "../workspace/files.ts";

/** `agents.files.*`. */
export function registerAgentFileMethods(ctx: PluginContext, kit: Kit): void {
  const answer = (agent: AgentInfo, file: AgentFile) => ({ agentId: agent.id, workspace: agent.workspace, file });

  ctx.registerRpc({
    ...methodOf(servedMethods, "agents.files.list"),
    handler: async ({ agentId }) => {
      const agent = kit.directory.get(agentId);
      return { agentId: agent.id, workspace: agent.workspace, files: await listAgentFiles(agent) };
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "agents.files.get"),
    handler: async ({ agentId, name }) => {
      const agent = kit.directory.get(agentId);
      return answer(agent, await readAgentFile(agent, name));
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "agents.files.set"),
    handler: async ({ agentId, ...file }) => {
      const agent = kit.directory.get(agentId);
      const written = await inWorkspace(agent.workspace, async () => {
        const { isMade } = await ensureWorkspace(agent, { skipBootstrap: true });
        if (isMade) await kit.workspaces.add(agent.workspace);
        return writeAgentFile(agent, file);
      });
      ctx.logger.info(`agents.files.set: wrote ${file.name} of agent "${agent.id}"`, { bytes: written.size });
      return { ok: true, ...answer(agent, written) };
    },
  });
}
