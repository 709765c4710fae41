import { type Agents, agentSetting, messageOf, type PluginContext, type PluginLife } from "svc/sdk";
import { KeyedMutex } from "./common/mutex.ts";
import { createDirectory } from "./directory.ts";
import { healthParts, sessionDefaults } from "./health.ts";
import { type Kit, runsOf } from "./kit.ts";
import { createCatalog } from "./models/catalog.ts";
import { createModelChoice } from "./models/choice.ts";
import { Cooldown } from "./models/cooldown.ts";
import { Lanes } from "./runs/lanes.ts";
import { markInterrupted } from "./runs/recover.ts";
import type { Run } from "./runs/run.ts";
import { createRunEvents } from "./runs/run-events.ts";
import { createRunner, type Runner, toHandle } from "./runs/runner.ts";
import { Subscriptions } from "./sessions/subscriptions.ts";
import { createToolBox } from "./tools/toolbox.ts";
import { createWorkspacePrompt, ensureWorkspace } from "./workspace/files.ts";

export interface AgentsPlugin {
  kit: Kit;
  runner: Runner;
  service: Agents;
  life: PluginLife;
}

/** Puts the parts together; nothing runs before `life.start`. */
export function createAgents(ctx: PluginContext): AgentsPlugin {
  const config = ctx.snapshot();
  const gateway = ctx.service("gateway@1");
  const { bootId, stateDir } = gateway.info();
  const store = () => ctx.service("store@1");
  const runs = new Map<string, Run>();
  const subscriptions = new Subscriptions();
  const catalog = createCatalog(ctx);
  const events = createRunEvents({
    ctx,
    subscriptions,
    activeRunIds: (key) => runsOf({ runs }, key).map((run) => run.id),
    session: (key) => store().sessions.get(key),
  });
  const kit: Kit = {
    ctx,
    config,
    bootId,
    store,
    directory: createDirectory(config, stateDir),
    tools: createToolBox(ctx),
    catalog,
    models: createModelChoice(config, catalog),
    workspace: createWorkspacePrompt(config),
    cooldown: new Cooldown(() => ctx.clock.monotonic()),
    lanes: new Lanes(config.agents.defaults.maxConcurrent),
    sessionLock: new KeyedMutex(),
    events,
    subscriptions,
    runs,
  };
  const runner = createRunner(kit, gateway);
  return { kit, runner, service: createService(kit, runner), life: createLife(kit, runner) };
}

function createService(kit: Kit, runner: Runner): Agents {
  return {
    run: async (request) => toHandle(await runner.start(request), runner),
    resolve: (target) => kit.directory.resolve(target),
    list: () => kit.directory.list(),
    invokeTool: (name, args, { agentId, sessionKey, signal }) => {
      const toolCallId = `direct-${kit.ctx.clock.now()}`;
      return kit.tools.invoke(kit.directory.get(agentId), { name, args }, { agentId, sessionKey, runId: toolCallId, toolCallId, signal });
    },
  };
}

function createLife(kit: Kit, runner: Runner): PluginLife {
  const { ctx } = kit;
  const problems: string[] = [];
  ctx.on("health.collect", (_event, meta) => {
    for (const part of healthParts(kit, problems)) meta.report(part);
  });
  ctx.on("hello.snapshot", (event) => ({ ...event, sessionDefaults: sessionDefaults(kit) }));
  ctx.on("gateway.stopping", () => runner.close());
  ctx.on("ws.disconnect", (event) => kit.subscriptions.drop(event.client.connId));

  return {
    async start() {
      const count = await markInterrupted(kit);
      if (count > 0) ctx.logger.warn(`${count} runs of an earlier process did not end; they are marked as interrupted`);
      for (const agent of kit.directory.list()) {
        try {
          const written = await ensureWorkspace(agent, { skipBootstrap: agentSetting(kit.config, agent.id, "skipBootstrap") ?? false });
          if (written.length > 0) ctx.logger.info(`workspace of agent "${agent.id}" got its first files`, { files: written });
        } catch (error) {
          problems.push(`workspace of agent "${agent.id}": ${messageOf(error)}`);
          ctx.logger.error(`workspace of agent "${agent.id}" cannot be prepared`, { path: agent.workspace, error: messageOf(error) });
        }
      }
    },
    stop: () => runner.drain(),
  };
}
