import { type Agents, type Cron, type CronEventHandler, messageOf, type PluginContext } from "svc/sdk";
import type { MemoryService } from "../service.ts";
import { dreamingCommand } from "./chat-command.ts";
import { createConversations } from "./conversations.ts";
import { registerDreamingDoctor } from "./doctor.ts";
import { Dreamer } from "./dreamer.ts";
import type { Dreaming } from "./dreaming-types.ts";
import { ManagedJob, SWEEP_HANDLER } from "./managed-job.ts";
import { createNarrator } from "./narrator.ts";
import { dreamPlaces } from "./places.ts";
import { RecallRecorder } from "./recall-recorder.ts";
import { registerDreamingRpc } from "./rpc.ts";
import { checkDreamingConfig, type DreamingSettings } from "./settings.ts";

/** Registers everything of dreaming. Nothing runs before the gateway is ready. */
export function createDreaming(ctx: PluginContext, memory: MemoryService, first: DreamingSettings): Dreaming {
  let settings = first;
  const { logger, signal, clock, kv } = ctx;
  const places = () => dreamPlaces(memory.agents.map((agent) => agent.settings));
  const agents = (): Agents => ctx.service("agents@1");
  const conversations = createConversations(() => ctx.service("store@2"));
  const narrate = createNarrator(agents, logger);
  const dreamer = new Dreamer({
    places,
    sweep: () => ({ now: () => clock.now(), timeZone: settings.timezone, logger, conversations, narrate }),
    signal,
    logger,
    kv,
    sync: (agentId) => memory.sync(agentId, { reason: "dreaming" }),
  });
  const recorder = new RecallRecorder({ logger, signal });
  const job = new ManagedJob((): Cron => ctx.service("cron@1"), logger);
  const plan = () => ({ enabled: settings.enabled, frequency: settings.frequency, timeZone: settings.timezone });
  const reconcile = async () => {
    if (ctx.service("gateway@1").info().phase === "ready") await job.reconcile(plan());
  };
  const dreaming: Dreaming = {
    get timeZone() {
      return settings.timezone;
    },
    places,
    async status(chosen) {
      const { enabled, frequency, timezone } = settings;
      const workspaces = await dreamer.inspect(chosen);
      return { enabled, frequency, ...(timezone === undefined ? {} : { timezone }), job: job.state(plan()), workspaces };
    },
    run: (chosen) => dreamer.run(chosen, signal),
    async sync({ agentIds }) {
      for (const agentId of agentIds)
        await memory
          .sync(agentId, { reason: "dreaming" })
          .catch((error: unknown) => logger.debug("dreaming: the index is brought up to date later", { error: messageOf(error) }));
    },
    recalled(agentId, search) {
      const place = settings.enabled ? places().find(({ agentIds }) => agentIds.includes(agentId)) : undefined;
      if (place) recorder.add({ ...search, workspace: place.workspace, at: clock.now(), timeZone: settings.timezone });
    },
    async configure(next) {
      settings = next;
      await reconcile();
    },
    dispose: () => recorder.settled(),
  };
  const handler: CronEventHandler = { run: (event) => dreamer.sweepAll(event.signal) };
  ctx.contribute("cronEvent", SWEEP_HANDLER, handler);
  ctx.contribute(
    "chatCommand",
    "dreaming",
    dreamingCommand({ status: () => dreaming.status(places()), config: () => ctx.service("config@1") }),
  );
  checkDreamingConfig(ctx);
  registerDreamingRpc(ctx, dreaming);
  registerDreamingDoctor(ctx, () => dreaming.status(places()));
  // Jobs are known when everything has started; a plugin that was replaced or switched on later is looked for again.
  ctx.on("gateway.ready", () => reconcile());
  ctx.on("plugin.state", ({ id, to }) => (id === "cron" && to === "ready" ? reconcile() : undefined));
  return dreaming;
}
