import { type AgentInfo, agentSetting, type DoctorFinding, messageOf } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { WorkspaceClaims } from "./claims.ts";
import { ensureWorkspace } from "./files.ts";

/** Workspaces of the agents in force: made where they are missing, claimed while this instance runs, and looked at for other gateways. */
export class AgentWorkspaces {
  readonly #kit: Kit;
  readonly #claims: WorkspaceClaims;
  /** Reason why a workspace could not be prepared, by agent. */
  readonly #problems = new Map<string, string>();

  constructor(kit: Kit, stateDir: string) {
    this.#kit = kit;
    this.#claims = new WorkspaceClaims(stateDir);
  }

  /** Prepares the workspaces of these agents, and claims exactly those of all agents. One that cannot be prepared is a problem, not an error. */
  async prepare(agents: readonly AgentInfo[]): Promise<void> {
    const all = this.#kit.directory.list();
    for (const id of this.#problems.keys()) if (!all.some((agent) => agent.id === id)) this.#problems.delete(id);
    for (const agent of agents) await this.#prepareOne(agent);
    await this.#claims.hold([...new Set(this.#kit.directory.list().map(({ workspace }) => workspace))]);
  }

  /** Sentences about the workspaces that could not be prepared. */
  problems(): string[] {
    return [...this.#problems.values()];
  }

  /** Workspaces in which another gateway of this machine works too: both index and write the same notes without knowing of each other. */
  async shared(): Promise<DoctorFinding[]> {
    const findings: DoctorFinding[] = [];
    for (const { id, workspace } of this.#kit.directory.list()) {
      for (const { pid, stateDir } of await this.#claims.others(workspace)) {
        const message = `workspace of agent "${id}" is shared with another gateway (pid ${pid}, state directory ${stateDir}): ${workspace}`;
        const fix = "give each gateway workspaces of its own: agents.defaults.workspace, agents.list[].workspace";
        findings.push({ id: "workspace/shared", severity: "warning", path: `agents.list[id=${id}].workspace`, message, fix });
      }
    }
    return findings;
  }

  /** Gives the claims back. */
  async release(): Promise<void> {
    await this.#claims.hold([]);
  }

  async #prepareOne(agent: AgentInfo): Promise<void> {
    const { ctx } = this.#kit;
    this.#problems.delete(agent.id);
    try {
      const skipBootstrap = agentSetting(this.#kit.config, agent.id, "skipBootstrap") ?? false;
      const { isMade, written } = await ensureWorkspace(agent, { skipBootstrap });
      if (isMade) await this.#kit.workspaces.add(agent.workspace);
      if (written.length > 0) ctx.logger.info(`workspace of agent "${agent.id}" got its first files`, { files: written });
    } catch (error) {
      this.#problems.set(agent.id, `workspace of agent "${agent.id}": ${messageOf(error)}`);
      ctx.logger.error(`workspace of agent "${agent.id}" cannot be prepared`, { path: agent.workspace, error: messageOf(error) });
    }
  }
}
