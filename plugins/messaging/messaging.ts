import { type Messaging, messageOf, type PluginContext, type PluginLife, settledWithin } from "svc/sdk";
import { type Channels, createChannels } from "./channels.ts";
import { reportHealth } from "./health.ts";
import type { Failure, QueueKit } from "./queue/kit.ts";
import type { Outgoing } from "./queue/message.ts";
import { Queue } from "./queue/queue.ts";
import { createMessagingService } from "./service.ts";
import { createWaits } from "./waits.ts";

/** A start waits no longer for rows of an earlier process; they are taken over when the storage lets it. */
const RECOVER_MS = 5_000;

export interface MessagingParts {
  service: Messaging;
  queue: Queue;
  life: PluginLife;
}

/** Puts the parts together; nothing is sent before the gateway is ready. */
export function createMessaging(ctx: PluginContext): MessagingParts {
  const channels = createChannels(ctx);
  const store = () => ctx.service("store@2");
  const waits = createWaits({ store, timers: ctx.timers });
  const queue = new Queue(queueKit(ctx, channels));
  ctx.on("health.collect", (_event, meta) => reportHealth({ store, queue }, meta));
  // Channels of other plugins are there by now, and whoever owns the rows of webhooks has settled what was interrupted.
  ctx.on("gateway.ready", () => queue.open());
  return {
    service: createMessagingService(ctx, { channels, queue, waits }),
    queue,
    life: {
      async start() {
        const recovering = queue.recover();
        recovering.catch((error: unknown) => {
          if (!ctx.signal.aborted) ctx.logger.error("messages of an earlier process cannot be resumed", { error: messageOf(error) });
        });
        await settledWithin(recovering, RECOVER_MS);
        if (ctx.service("gateway@1").info().phase === "ready") queue.open();
      },
      stop: () => queue.stop(),
    },
  };
}

function queueKit(ctx: PluginContext, channels: Channels): QueueKit {
  const gateway = ctx.service("gateway@1");
  const lease = `${gateway.info().bootId}:${ctx.instance}`;
  return {
    store: () => ctx.service("store@2"),
    clock: ctx.clock,
    timers: ctx.timers,
    logger: ctx.logger,
    lease,
    acquire: () => ctx.service("leases@1").acquire("deliveries:out", { owner: lease }),
    carrierOf: (channel) => channels.carrierOf(channel),
    async leaveNote({ sessionKey }, note) {
      await ctx.service("agents@1").inject({ sessionKey, ...note, label: "delivery" });
    },
    sent(message, receipt) {
      if (ctx.isHookUsed("outbound.sent")) tell(ctx, ctx.runHook("outbound.sent", { ...idsOf(message), ...receipt }, metaOf(message)));
    },
    failed(message, failure: Failure) {
      if (ctx.isHookUsed("outbound.failed")) tell(ctx, ctx.runHook("outbound.failed", { ...idsOf(message), ...failure }, metaOf(message)));
    },
    hold: (reason) => gateway.hold(reason),
    random: Math.random,
  };
}

function idsOf({ uid, route, sessionKey, agentId, origin }: Outgoing) {
  return { uid, ...route, sessionKey, agentId, origin };
}

function metaOf({ sessionKey, agentId }: Outgoing) {
  return { sessionKey, agentId };
}

/** Emits an event without waiting for its listeners. */
function tell(ctx: PluginContext, told: Promise<unknown>): void {
  told.catch((error: unknown) => ctx.logger.warn("a hook about a message failed", { error: messageOf(error) }));
}
