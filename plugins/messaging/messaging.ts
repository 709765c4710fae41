import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultAgentId, type Messaging, messageOf, type PluginContext, type PluginLife, settledWithin, sleep } from "svc/sdk";
import { Accounts } from "./accounts/accounts.ts";
import { HealthMonitor } from "./accounts/monitor.ts";
import { type Channels, createChannels, FETCHED } from "./channels.ts";
import { reportDoctor } from "./doctor.ts";
import { type ChannelFigures, createFigures } from "./figures.ts";
import { reportHealth } from "./health.ts";
import { GroupHistory } from "./inbound/group-history.ts";
import { MentionPatterns } from "./inbound/mention-patterns.ts";
import { admits, receive } from "./inbound/receive.ts";
import { InboundRunner } from "./inbound/runner.ts";
import { TextWindows } from "./inbound/text-windows.ts";
import { AckReactions } from "./live/ack-reaction.ts";
import { GrowingAnswers } from "./live/answers.ts";
import { displayRun } from "./live/run-display.ts";
import { TypingIndicators } from "./live/typing.ts";
import { MediaStore } from "./media/media-store.ts";
import { Pairings } from "./pairing/pairings.ts";
import { noticeOps, pairingText } from "./pairing/reply.ts";
import type { Carrier, Failure, QueueKit } from "./queue/kit.ts";
import type { Outgoing } from "./queue/message.ts";
import { Queue } from "./queue/queue.ts";
import { toPairingRequest } from "./rpc/pairing.ts";
import { createMessagingService, type OwnMessaging } from "./service.ts";
import { createWaits } from "./waits.ts";

/** A start waits no longer for rows of an earlier process; they are taken over when the storage lets it. */
const RECOVER_MS = 5_000;
/** After a fault that kept messages from being taken up. */
const BEGIN_AGAIN_MS = 10_000;

export interface MessagingParts {
  service: Messaging;
  queue: Queue;
  accounts: Accounts;
  pairings: Pairings;
  channels: Channels;
  life: PluginLife;
}

/** Puts the parts together; nothing is sent, and no account started, before the gateway is ready. */
export function createMessaging(ctx: PluginContext): MessagingParts {
  const store = () => ctx.service("store@2");
  const parts = createParts(ctx);
  const { accounts, queue, runner, pairings } = parts;
  ctx.on("health.collect", (_event, meta) => reportHealth({ ctx, store, queue, accounts }, meta));
  ctx.on("doctor.collect", (_event, meta) => reportDoctor({ ctx, store, accounts, pairings }, meta));
  ctx.onReload({ prefixes: ["channels"], prepare: async (_next, _prev, { paths }) => accounts.prepareReload(paths) });
  ctx.on("gateway.resumed", ({ gapMs }) => accounts.refresh(`the machine stood still for ${Math.round(gapMs / 1_000)} s`));
  const monitor = new HealthMonitor({ ctx, all: () => accounts.all() });
  ctx.onReload({ prefixes: ["gateway"], prepare: async () => ({ apply: async () => monitor.arm(), discard: () => undefined }) });
  const open = async () => {
    queue.open();
    // A message that an earlier process has left may need its channel at once.
    await accounts.load();
    // Messages of an earlier process are taken up before new ones come in; without a runner nobody would answer those.
    await untilBegun(ctx, runner);
    await accounts.open();
    monitor.arm();
  };
  let isOpening = false;
  const openOnce = () => {
    if (isOpening) return;
    isOpening = true;
    open().catch((error: unknown) => {
      if (!ctx.signal.aborted) ctx.logger.error("channels cannot be opened", { error: messageOf(error) });
    });
  };
  // Channels of other plugins are there by now, and whoever owns the rows of webhooks has settled what was interrupted.
  ctx.on("gateway.ready", openOnce);
  ctx.on("gateway.stopping", () => {
    // Channels receive no more; what is queued is sent as long as there is time.
    runner.close();
  });
  return {
    ...parts,
    life: {
      async start() {
        // Files that an earlier process has fetched; each try fetches its own.
        await rm(join(ctx.stateDir, FETCHED), { recursive: true, force: true });
        const recovering = queue.recover();
        recovering.catch((error: unknown) => {
          if (!ctx.signal.aborted) ctx.logger.error("messages of an earlier process cannot be resumed", { error: messageOf(error) });
        });
        await settledWithin(recovering, RECOVER_MS);
        if (ctx.service("gateway@1").info().phase === "ready") openOnce();
      },
      async stop() {
        monitor.disarm();
        await Promise.all([runner.stop(), queue.stop()]);
        await accounts.close();
      },
    },
  };
}

/** @throws the signal's reason at a stop */
async function untilBegun(ctx: PluginContext, runner: Pick<InboundRunner, "begin">): Promise<void> {
  for (;;) {
    try {
      return await runner.begin();
    } catch (error) {
      ctx.signal.throwIfAborted();
      ctx.logger.error("messages from channels cannot be answered yet; trying again", { error: messageOf(error), waitMs: BEGIN_AGAIN_MS });
      await sleep(BEGIN_AGAIN_MS, ctx.signal, ctx.timers);
    }
  }
}

function createPairings(ctx: PluginContext, queue: Pick<Queue, "nudge">): Pairings {
  return new Pairings({
    store: () => ctx.service("store@2"),
    clock: ctx.clock,
    logger: ctx.logger,
    replyOps: async (account, request, uid) =>
      noticeOps(pairingText(account, request), {
        account,
        to: request.to,
        uid,
        agentId: defaultAgentId(ctx.snapshot()),
        at: request.requestedAt,
      }),
    onRequested(account, request) {
      queue.nudge();
      ctx.logger.info(`pairing on ${account.channel}: somebody asks to be let in; see svc pairing list`, {
        accountId: account.accountId,
        sender: request.sender.id,
      });
      ctx.emit("messaging.pairing.requested", toPairingRequest(account, request));
    },
    onResolved: ({ channel, accountId }, { sender }, decision) =>
      ctx.emit("messaging.pairing.resolved", { channel, accountId, senderId: sender.id, decision, ts: ctx.clock.now() }),
    onRevoked: ({ channel, accountId }, { id }) =>
      ctx.emit("messaging.pairing.resolved", { channel, accountId, senderId: id, decision: "revoked", ts: ctx.clock.now() }),
  });
}

function createParts(ctx: PluginContext) {
  const store = () => ctx.service("store@2");
  const gateway = ctx.service("gateway@1");
  const lease = `${gateway.info().bootId}/${ctx.instance}`;
  const agents = () => ctx.service("agents@1");
  const media = new MediaStore(join(ctx.stateDir, "media"), ctx);
  const history = new GroupHistory();
  const windows = new TextWindows(ctx.clock);
  const patterns = new MentionPatterns(ctx);
  const figures = createFigures(ctx, { accounts: () => accounts.all(), store });
  const accounts: Accounts = new Accounts(ctx, {
    ctx,
    media,
    acquire: (name) => ctx.service("leases@1").acquire(name),
    async receive(event, account) {
      const ack = await receive(event, account, { ctx, runner, pairings, reactions, history, windows, patterns });
      figures.received(account.channel.id, ack.status);
      return ack;
    },
    admits: (event, account) => admits(event, account, { ctx, runner, pairings, reactions, history, windows, patterns }),
    onRestart: ({ channel, accountId }, cause) => figures.restarted(channel.id, accountId, cause),
    onChange(account) {
      gateway.invalidateHealth();
      if (account.ready) queue.nudge();
    },
  });
  const channels = createChannels(ctx, accounts);
  const runOf = (channel: string, accountId: string) => accounts.get(channel, accountId)?.ready;
  const reactions = new AckReactions({ ctx, runOf });
  const typing = new TypingIndicators({
    ctx,
    target({ channel: id, accountId }) {
      const [channel, run] = [channels.get(id), runOf(id, accountId)];
      return channel?.capabilities.typing === true && run ? { channel, run } : undefined;
    },
  });
  const answers: GrowingAnswers = new GrowingAnswers({
    ctx,
    store,
    channel: (id) => channels.get(id),
    account(channel, accountId) {
      const account = accounts.get(channel, accountId);
      return account?.ready && { run: account.ready, noteSent: (id) => account.noteSent(id) };
    },
    isSilenced: (of) => service.isSilenced(of),
    sendPart: (part, step) => service.sendPart(part, step),
  });
  const queue: Queue = new Queue(queueKit(ctx, { channels, figures }));
  const service: OwnMessaging = createMessagingService(ctx, {
    answers,
    channels,
    queue,
    waits: createWaits({ store, timers: ctx.timers }),
  });
  const runner: InboundRunner = new InboundRunner({
    ctx,
    lease,
    acquire: () => ctx.service("leases@1").acquire("deliveries:in", { owner: lease }),
    store,
    agents,
    media,
    deliver: (request) => service.deliver(request),
    isOwner: (person) => service.isOwner(person),
    display: (work) => displayRun(work, { ctx, typing, answers }),
  });
  const pairings: Pairings = createPairings(ctx, queue);
  return { accounts, channels, queue, service, runner, pairings };
}

function queueKit(ctx: PluginContext, { channels, figures }: { channels: Channels; figures: ChannelFigures }): QueueKit {
  const gateway = ctx.service("gateway@1");
  const lease = `${gateway.info().bootId}:${ctx.instance}`;
  return {
    store: () => ctx.service("store@2"),
    clock: ctx.clock,
    timers: ctx.timers,
    logger: ctx.logger,
    lease,
    acquire: () => ctx.service("leases@1").acquire("deliveries:out", { owner: lease }),
    async carrierOf(channel) {
      const carrier = await channels.carrierOf(channel);
      return carrier && tracedCarrier(carrier, ctx);
    },
    canSend: (route) => channels.canSend(route),
    async leaveNote({ sessionKey }, note) {
      await ctx.service("agents@1").inject({ sessionKey, ...note, label: "delivery" });
    },
    sent(message, receipt) {
      figures.tried(message.route.channel, "sent");
      if (ctx.isHookUsed("outbound.sent")) tell(ctx, ctx.runHook("outbound.sent", { ...idsOf(message), ...receipt }, metaOf(message)));
    },
    failed(message, failure: Failure) {
      figures.tried(message.route.channel, failure.outcome);
      if (ctx.isHookUsed("outbound.failed")) tell(ctx, ctx.runHook("outbound.failed", { ...idsOf(message), ...failure }, metaOf(message)));
    },
    hold: (reason) => gateway.hold(reason),
    random: Math.random,
  };
}

/** The same carrier; each try to send is a span of the work that queued the message. */
function tracedCarrier({ isIdempotent, readiness, send }: Carrier, { tracing }: Pick<PluginContext, "tracing">): Carrier {
  return {
    isIdempotent,
    readiness,
    send(message, signal) {
      const { channel } = message.route;
      const attributes = { "messaging.system": channel, "messaging.operation.name": "send", "messaging.message.id": message.uid };
      const options = { kind: "producer", kept: message.part?.message ?? message.uid, attributes } as const;
      return tracing.span(`send ${channel}`, options, () => send(message, signal));
    },
  };
}

function idsOf({ uid, route, sessionKey, agentId, origin, part }: Outgoing) {
  const ids = { ...route, sessionKey, agentId, origin };
  return part === undefined ? { uid, ...ids } : { uid: part.message, ...ids, part: { index: part.index, of: part.of } };
}

function metaOf({ sessionKey, agentId }: Outgoing) {
  return { sessionKey, agentId };
}

/** Emits an event without waiting for its listeners. */
function tell(ctx: PluginContext, told: Promise<unknown>): void {
  told.catch((error: unknown) => ctx.logger.warn("a hook about a message failed", { error: messageOf(error) }));
}
