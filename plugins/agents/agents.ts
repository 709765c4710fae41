import { type Agents, type ChatCommand, type Lease, type ModelProvider, messageOf, type PluginContext, type PluginLife } from "svc/sdk";
import { KeyedMutex, perSnapshot } from "svc/sdk/internal";
import { createDirectory } from "./directory.ts";
import { createFigures } from "./figures.ts";
import { healthParts, sessionDefaults } from "./health.ts";
import { Heartbeats } from "./heartbeat/heartbeats.ts";
import { enqueueSystemEvent } from "./heartbeat/system-events.ts";
import type { Kit } from "./kit.ts";
import { askModel } from "./models/ask.ts";
import { createCatalog } from "./models/catalog.ts";
import { createModelChoice } from "./models/choice.ts";
import { Cooldown } from "./models/cooldown.ts";
import { registerModelDoctor } from "./models/doctor.ts";
import { followServers } from "./models/follow-servers.ts";
import { modelInput } from "./models/input.ts";
import { createModelsNotifier } from "./models/notify-changes.ts";
import { createModelStates } from "./models/states.ts";
import { createToolSupport } from "./models/tool-support.ts";
import { createWindows } from "./models/windows.ts";
import { createWorkspaceRecord } from "./registry/workspace-record.ts";
import { chatCommandOf, obeyInChat } from "./runs/chat-command.ts";
import { commandRun } from "./runs/command-run.ts";
import { Lanes, placesOf } from "./runs/lanes.ts";
import { LeftOut } from "./runs/left-out.ts";
import { LiveRuns } from "./runs/live-runs.ts";
import { becomeOwner, markInterrupted } from "./runs/recover.ts";
import { RunEvents } from "./runs/run-events.ts";
import { Runner, toHandle } from "./runs/runner.ts";
import { sessionFindings } from "./sessions/doctor.ts";
import { createSessionEnds } from "./sessions/ends.ts";
import { injectNote } from "./sessions/inject.ts";
import { createMaintenanceJob, type MaintenanceJob } from "./sessions/maintenance-job.ts";
import { showNotice } from "./sessions/notice.ts";
import { forgetRequest } from "./sessions/stateless.ts";
import { Subscriptions } from "./sessions/subscriptions.ts";
import { wireSession } from "./sessions/wire.ts";
import { invokeDirectly, isAllowed, refuse } from "./tools/invoke.ts";
import { RefusalCount } from "./tools/refusals.ts";
import { createToolBox } from "./tools/toolbox.ts";
import { TraceLog } from "./traces/trace-log.ts";
import { AgentWorkspaces } from "./workspace/agent-workspaces.ts";
import { createWorkspacePrompt } from "./workspace/files.ts";

export interface AgentsPlugin {
  kit: Kit;
  runner: Runner;
  heartbeats: Heartbeats;
  service: Agents;
  life: PluginLife;
}

/** Puts the parts together; nothing runs before `life.start`. */
export function createAgents(ctx: PluginContext): AgentsPlugin {
  const gateway = ctx.service("gateway@1");
  const { bootId, stateDir } = gateway.info();
  const store = () => ctx.service("store@2");
  const subscriptions = new Subscriptions();
  const catalog = createCatalog(ctx);
  const events = new RunEvents({ ctx, subscriptions, wire: (row) => wireSession(kit, row) });
  const parts = perSnapshot(ctx.snapshot, (config) => ({
    config,
    directory: createDirectory(config, stateDir),
    models: createModelChoice(config, catalog),
    workspace: createWorkspacePrompt(config),
  }));
  const lanes = new Lanes((lane) => placesOf(lane, parts().config));
  const figures = createFigures(ctx, () => ({ waiting: lanes.queued, active: lanes.active }));
  const modelsChanged = createModelsNotifier(ctx);
  const cooldown = new Cooldown(() => ctx.clock.monotonic(), modelsChanged);
  forgetReplaced(ctx, cooldown, modelsChanged);
  const kit: Kit = {
    ctx,
    get config() {
      return parts().config;
    },
    bootId,
    store,
    get directory() {
      return parts().directory;
    },
    tools: createToolBox(ctx, figures),
    refusals: new RefusalCount(ctx.clock),
    chatCommands: ctx.contributions<ChatCommand>("chatCommand"),
    catalog,
    get models() {
      return parts().models;
    },
    get workspace() {
      return parts().workspace;
    },
    workspaces: createWorkspaceRecord(ctx.kv),
    cooldown,
    modelStates: createModelStates({
      catalog,
      cooldown,
      config: () => parts().config,
      models: () => parts().models,
      clock: ctx.clock,
      onChange: modelsChanged,
    }),
    toolSupport: createToolSupport(catalog),
    windows: createWindows(),
    lanes,
    figures,
    sessionLock: new KeyedMutex(),
    events,
    ends: createSessionEnds(ctx),
    subscriptions,
    leftOut: new LeftOut(),
    runs: new LiveRuns(),
    traces: new TraceLog({ store, clock: ctx.clock, logger: ctx.logger }),
    copies: new Set(),
    redact: gateway.redact,
  };
  const runner = new Runner(kit, gateway);
  const heartbeats = new Heartbeats(kit, runner);
  return { kit, runner, heartbeats, service: createService(kit, runner, heartbeats), life: createLife(kit, runner, heartbeats) };
}

/** A provider that was registered anew has another key, address or setting: whatever the one before it failed of says nothing about it. */
function forgetReplaced(ctx: PluginContext, cooldown: Cooldown, onChange: () => void): void {
  const view = ctx.contributions<ModelProvider>("modelProvider");
  const known = new Map<string, ModelProvider>();
  const compare = () => {
    for (const { value } of view) {
      const before = known.get(value.id);
      known.set(value.id, value);
      if (before && before !== value) cooldown.forget(value.id);
    }
  };
  compare();
  view.watch(() => {
    compare();
    onChange();
  });
}

function createService(kit: Kit, runner: Runner, heartbeats: Heartbeats): Agents {
  return {
    run: async (request) => (await commandRun(request, { kit, runner })) ?? toHandle(await runner.start(request), runner),
    resolve: (target) => kit.directory.resolve(target),
    list: () => kit.directory.list(),
    async checkModel({ agentId, model }) {
      const found = await kit.models.check(kit.directory.get(agentId ?? kit.directory.defaultId), model);
      return `${found.provider}/${found.model}`;
    },
    modelInput: (choice) => modelInput(kit, choice),
    ask: (question) => askModel(kit, question),
    commandOf: (message) => chatCommandOf(kit, message),
    command: (request) => obeyInChat(request, { kit, runner }),
    async inject({ text, label, id, ...target }) {
      const { agentId, sessionKey } = kit.directory.resolve(target);
      return injectNote(kit, sessionKey, { text, label, id, makeFor: agentId });
    },
    notice: (note) => showNotice(kit, note),
    systemEvent: (request) => enqueueSystemEvent(kit, heartbeats, request),
    wake({ reason, mode, isOwn, ...target }) {
      const { agentId, sessionKey } = kit.directory.resolve(target);
      if (mode === "now") heartbeats.wake({ agentId, sessionKey: target.sessionKey && sessionKey, reason, isOwn: isOwn ?? false });
    },
    forget: (request) => forgetRequest(kit, request),
    isToolAllowed: (name, where) => isAllowed(kit, name, where),
    refuseTool: (name, target) => refuse(kit, name, target),
    invokeTool: (name, args, target) => invokeDirectly(kit, { name, args }, target),
  };
}

function createLife(kit: Kit, runner: Runner, heartbeats: Heartbeats): PluginLife {
  const { ctx } = kit;
  const gateway = ctx.service("gateway@1");
  const maintenance = createMaintenanceJob(kit);
  const workspaces = new AgentWorkspaces(kit, gateway.info().stateDir);
  let role: Lease | undefined;
  registerReports(kit, { heartbeats, maintenance, workspaces });
  followServers(kit);
  followConfig(kit, { heartbeats, workspaces });
  ctx.on("gateway.ready", () => heartbeats.wakeWaiting());
  ctx.on("gateway.resumed", () => heartbeats.resumed());
  ctx.on("gateway.stopping", ({ deadlineMs }) => {
    heartbeats.stop();
    void maintenance.stop();
    runner.close();
    const unsettled = [...kit.runs.values()].map((run) => run.done);
    kit.ends.shutdown(unsettled, { deadlineMs, gateway });
  });
  ctx.on("ws.disconnect", (event) => kit.subscriptions.drop(event.client.connId));

  return {
    async start() {
      role = await becomeOwner(kit);
      const count = role ? await markInterrupted(kit) : 0;
      if (count > 0) ctx.logger.warn(`${count} runs of an earlier process did not end; they are marked as interrupted`);
      await workspaces.prepare(kit.directory.list());
      void kit.traces.loaded();
      for (const { message } of await workspaces.shared()) ctx.logger.warn(message);
      await heartbeats.start();
      maintenance.start();
      // A later instance of this plugin misses the moment at which the gateway became ready.
      if (gateway.info().phase === "ready") await heartbeats.wakeWaiting();
    },
    async stop() {
      heartbeats.stop();
      await Promise.all([maintenance.stop(), runner.drain()]);
      await workspaces.release();
      // Runs whose end could not be stored are marked by the next start.
      await role
        ?.release()
        .catch((error: unknown) => ctx.logger.debug("the role of the runner was not given back", { error: messageOf(error) }));
    },
  };
}

interface Reporters {
  heartbeats: Heartbeats;
  maintenance: MaintenanceJob;
  workspaces: AgentWorkspaces;
}

/** Tells `health`, `doctor` and new connections how things stand. */
function registerReports(kit: Kit, { heartbeats, maintenance, workspaces }: Reporters): void {
  const { ctx } = kit;
  ctx.on("health.collect", async (_event, meta) => {
    const shared = (await workspaces.shared()).map(({ message }) => message);
    for (const part of await healthParts(kit, heartbeats, [...workspaces.problems(), ...shared])) meta.report(part);
    const maintained = maintenance.health();
    if (maintained) meta.report(maintained);
  });
  ctx.on("doctor.collect", async (_event, meta) => {
    for (const finding of await workspaces.shared()) meta.report(finding);
    for (const finding of await sessionFindings(kit)) meta.report(finding);
  });
  registerModelDoctor(kit);
  ctx.on("hello.snapshot", (event) => ({ ...event, sessionDefaults: sessionDefaults(kit) }));
}

/** Gives a workspace to each agent that came or moved; what else depends on the config reads it when it is used. */
function followConfig(kit: Kit, { heartbeats, workspaces }: Pick<Reporters, "heartbeats" | "workspaces">): void {
  kit.ctx.onReload({
    prefixes: ["agents"],
    async prepare() {
      const before = new Map(kit.directory.list().map((agent) => [agent.id, agent.workspace]));
      return {
        async apply() {
          await workspaces.prepare(kit.directory.list().filter((agent) => before.get(agent.id) !== agent.workspace));
          kit.lanes.refill();
          heartbeats.update();
        },
        discard: () => undefined,
      };
    },
  });
}
