import { z } from "svc/sdk";

const count = z.number().int().min(0);
const epochMs = count;
const text = z.string();

const state = z.enum(["accepted", "sending", "uncertain", "done", "failed", "expired"]);

const message = z.object({
  uid: text,
  id: count.describe("for `before`"),
  lane: text.describe("`channel:account:to`"),
  state: state.describe("`uncertain`: whether the platform has it is unknown"),
  attempt: count.describe("tries begun"),
  createdAt: epochMs,
  updatedAt: epochMs,
  expiresAt: epochMs,
  notBefore: epochMs.exactOptional().describe("of the next try"),
  reason: text.exactOptional().describe("why it was not delivered, or why the last try did not succeed"),
  messageId: text.exactOptional().describe("that the platform gave it"),
});

const changed = z.object({ ok: z.literal(true), uid: text });

const lifecycle = z.enum(["starting", "ready", "recovering", "blocked", "stopped"]);

const account = z
  .object({
    accountId: text,
    name: text.exactOptional(),
    enabled: z.boolean(),
    configured: z.boolean().describe("its section has what the channel needs"),
    missing: z.array(text).exactOptional().describe("keys that the channel needs"),
    running: z.boolean(),
    lifecycle: lifecycle.describe("`recovering`: it connects again by itself; `blocked`: somebody has to act"),
    connected: z.boolean(),
    stoppedByHand: z.boolean().exactOptional(),
    reconnectAttempts: count,
    restarts: count.describe("starts after its channel ended by itself"),
    lastStartAt: epochMs.exactOptional(),
    lastStopAt: epochMs.exactOptional(),
    lastConnectedAt: epochMs.exactOptional(),
    lastDisconnect: z.object({ at: epochMs, error: text.exactOptional() }).exactOptional(),
    isHeldElsewhere: z.literal(true).exactOptional().describe("another gateway of this machine runs it"),
    lastRestart: z.object({ at: epochMs, reason: text }).exactOptional().describe("because it was stuck"),
    lastInboundAt: epochMs.exactOptional(),
    lastOutboundAt: epochMs.exactOptional(),
    lastError: text.exactOptional(),
    identity: text.exactOptional().describe("the account as others see it"),
    queueDepth: count.describe("messages that wait to be sent through it"),
    dmPolicy: z.enum(["pairing", "allowlist", "open", "disabled"]),
    credential: z.enum(["available", "unavailable", "missing"]),
    lastProbeAt: epochMs.exactOptional(),
    probe: z.object({ ok: z.boolean(), ms: count, error: text.exactOptional(), identity: text.exactOptional() }).exactOptional(),
    audit: z
      .array(z.object({ id: text, ok: z.boolean(), message: text }))
      .exactOptional()
      .describe("rights on the platform"),
  })
  .meta({ id: "ChannelAccountStatus" });

/** Somebody who waits to be let in. */
export const pairingRequest = z
  .object({
    channel: text,
    accountId: text,
    code: text,
    senderId: text,
    senderName: text.exactOptional().describe("as the platform tells it; it may change hands"),
    requestedAt: epochMs,
    expiresAt: epochMs,
  })
  .meta({ id: "ChannelPairingRequest" });

const pairedSender = z.object({
  channel: text,
  accountId: text,
  senderId: text.describe("as the platform knows them"),
  senderName: text.exactOptional(),
  approvedAt: epochMs,
});

const decided = z.object({ ok: z.literal(true), channel: text, accountId: text, senderId: text, senderName: text.exactOptional() });

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const messagingResults = {
  "channels.status": z.object({
    ts: epochMs,
    channelOrder: z.array(text),
    channelLabels: z.record(text, text),
    channelMeta: z.array(
      z.object({ id: text, label: text, detailLabel: text, canLogin: z.boolean().describe("`channels.login` signs its accounts in") }),
    ),
    channels: z.record(text, z.object({ configured: z.boolean(), running: z.boolean(), error: text.exactOptional() })),
    channelAccounts: z.record(text, z.array(account)),
    channelDefaultAccountId: z.record(text, text),
  }),
  "channels.start": z.object({ channel: text, accountId: text, started: z.boolean() }),
  "channels.stop": z.object({ channel: text, accountId: text, stopped: z.boolean() }),
  "channels.login": z.union([
    z.object({ status: z.literal("accepted"), loginId: text.describe("of its events"), channel: text, accountId: text, timeoutMs: count }),
    z.object({
      status: z.literal("done"),
      channel: text,
      accountId: text,
      identity: text.exactOptional().describe("the account as the platform knows it"),
      note: text.exactOptional().describe("what is left to do"),
      started: z.boolean().describe("the account was started"),
    }),
  ]),
  "channels.logout": z.object({
    channel: text,
    accountId: text,
    cleared: z.boolean().describe("there was a sign-in, and nothing of it is left"),
  }),
  send: z.object({
    runId: text.describe("the idempotency key"),
    status: z
      .enum(["sent", "queued", "uncertain"])
      .describe("`queued`: it waits in the queue; `uncertain`: whether the platform has it is unknown"),
    uid: text.describe("of the message in the queue"),
    channel: text,
    to: text,
    messageId: text.exactOptional().describe("that the platform gave it"),
    accountId: text.exactOptional(),
    threadId: text.exactOptional(),
  }),
  "messaging.pairing.list": z.object({ requests: z.array(pairingRequest), paired: z.array(pairedSender) }),
  "messaging.pairing.approve": decided,
  "messaging.pairing.reject": decided,
  "messaging.pairing.revoke": decided,
  "messaging.queue.list": z.object({ messages: z.array(message), counts: z.record(state, count) }),
  "messaging.queue.retry": changed,
  "messaging.queue.drop": changed,
};
