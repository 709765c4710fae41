import { type DeliveryRow, type InboundAck, type InboundEvent, isSvcError, type PluginContext, type StoreOp } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { messagingErrors } from "../errors.ts";
import { boundAgent } from "./bindings.ts";
import type { GroupHistory } from "./group-history.ts";
import { joinInbound } from "./join-inbound.ts";
import { type InboundRunner, laneOf, type Slot } from "./runner.ts";
import { sessionKeyOf } from "./session-key.ts";
import { type Command, encodeInbound, type Inbound, toInbound } from "./stored.ts";
import type { OpenText, TextWindows } from "./text-windows.ts";

/** A message that nobody took up for so long is not answered any more. */
const EXPIRY_MS = 24 * 3_600_000;
/** The key of an event is its id alone. */
const FINGERPRINT = "event";

export interface AcceptDeps {
  ctx: Pick<PluginContext, "snapshot" | "service" | "clock" | "logger">;
  runner: Pick<InboundRunner, "reserve" | "nudge">;
  history: GroupHistory;
  windows: TextWindows;
}

/** The account that a message came through. */
export interface AcceptPlace {
  channel: string;
  /** Name of the platform. */
  label: string;
  accountId: string;
  isCaseSensitive: boolean;
}

interface Admitted {
  setsRoute: boolean;
  isMentioned: boolean;
  historyLimit: number;
  command: Command | undefined;
}

/** A conversation as history knows it: a thread has its own. */
export function conversationOf({ peer, threadId }: InboundEvent, { channel, accountId, isCaseSensitive }: AcceptPlace): string {
  return JSON.stringify([channel, accountId, isCaseSensitive ? peer.id : peer.id.toLowerCase(), threadId]);
}

/**
 * Stores an admitted message as a row. A text waits for the next one of its sender, `messages.inbound.debounceMs`; when that comes, one commit ends the row of the
 * first and makes one of both. Anything else ends the wait.
 * @throws {SvcError} `inbound-full`, `deliveries-full`, `storage-*`
 */
export async function accept(event: InboundEvent, admitted: Admitted, place: AcceptPlace, deps: AcceptDeps): Promise<InboundAck> {
  const { channel, accountId, label } = place;
  const { setsRoute, isMentioned, historyLimit, command } = admitted;
  const agentId = agentFor(event, place, deps);
  const sessionKey = sessionKeyOf(event, { agentId, ...place }, deps.ctx.snapshot().session);
  const about = { channel, accountId, label, agentId, sessionKey, setsRoute, isMentioned, command };
  const conversation = conversationOf(event, place);
  const sender = JSON.stringify([sessionKey, conversation, event.sender.id]);
  return deps.windows.inTurn(sender, async () => {
    const slot = deps.runner.reserve(sessionKey);
    if (!slot) throw messagingErrors.inboundFull({ channel }, { retryAfterMs: 5_000 });
    const isForAgent = command === undefined || command.rest !== "";
    const history = event.chatType === "direct" || !isForAgent ? [] : deps.history.take(conversation, historyLimit);
    let isStored = false;
    try {
      const inbound = toInbound(event, { ...about, history });
      await reached("inbound.before-accept");
      isStored = await store({ event, inbound, slot, sender }, deps);
      await reached("inbound.after-accept");
    } finally {
      if (!isStored) {
        slot.release();
        deps.history.restore(conversation, history);
      }
    }
    if (!isStored) return { status: "duplicate" };
    deps.runner.nudge();
    return { status: "accepted" };
  });
}

interface Storing {
  event: InboundEvent;
  inbound: Inbound;
  slot: Slot;
  /** Key of the sender's window. */
  sender: string;
}

/** @returns false for an event that is known already */
async function store(message: Storing, deps: AcceptDeps): Promise<boolean> {
  const { event, inbound, sender } = message;
  const open = deps.windows.get(sender);
  try {
    await commit(message, open, deps);
    return true;
  } catch (error) {
    if (!isSvcError(error, "delivery-state")) throw error;
  }
  const { channel, accountId } = inbound;
  if (await deps.ctx.service("store@2").deliveries.byKey(keyOf(event, { channel, accountId }))) return false;
  // The row of the earlier text was taken up meanwhile: this one is a message of its own.
  deps.windows.forget(sender);
  await commit(message, undefined, deps);
  return true;
}

async function commit({ event, inbound, slot, sender }: Storing, open: OpenText | undefined, deps: AcceptDeps): Promise<void> {
  const { clock } = deps.ctx;
  const at = clock.now();
  const isText = inbound.attachments.length === 0 && inbound.command === undefined;
  const windowMs = isText ? windowOf(inbound.channel, deps) : 0;
  const both = open && joinInbound(open.inbound, inbound);
  const joined = both ? open : undefined;
  const waitMs = deps.windows.waitMs(windowMs, joined);
  const whole = both ?? inbound;
  const ops: StoreOp[] = [
    acceptOp(event, whole, { uid: slot.uid, at }),
    // There is no such row when the event is known: then nothing of this is stored.
    { op: "delivery.requeue", uid: slot.uid, from: ["accepted"], at, ...(waitMs > 0 ? { notBefore: at + waitMs } : {}) },
  ];
  if (joined) ops.push(joinedOp(joined.uid, { into: slot.uid, at }));
  else if (open) ops.push({ op: "delivery.requeue", uid: open.uid, from: ["accepted"], at });
  await (joined ? commitJoined(ops, deps) : deps.ctx.service("store@2").commit(ops));
  joined?.slot.release();
  deps.windows.set(sender, { uid: slot.uid, slot, inbound: whole }, { waitMs, joined });
}

async function commitJoined(ops: StoreOp[], { ctx }: AcceptDeps): Promise<void> {
  await reached("inbound.before-join");
  await ctx.service("store@2").commit(ops);
  await reached("inbound.after-join");
}

function joinedOp(uid: string, { into, at }: { into: string; at: number }): StoreOp {
  return { op: "delivery.finish", uid, from: ["accepted"], state: "done", result: { status: "joined", into }, at };
}

function windowOf(channel: string, { ctx }: AcceptDeps): number {
  const { debounceMs, byChannel } = ctx.snapshot().messages.inbound;
  return byChannel[channel] ?? debounceMs;
}

function keyOf(event: InboundEvent, { channel, accountId }: { channel: string; accountId: string }) {
  return { idemScope: `in:${channel}:${accountId}`, idemKey: event.id, fingerprint: FINGERPRINT };
}

function acceptOp(event: InboundEvent, inbound: Inbound, { uid, at }: { uid: string; at: number }): StoreOp {
  // A lane of its own: messages of a session are handed over in order, and a later one may meet the run of an earlier one (`messages.queue`).
  const row: Pick<DeliveryRow, "uid" | "lane" | "expiresAt"> & { dir: "in" } = {
    uid,
    dir: "in",
    lane: laneOf(inbound.sessionKey, uid),
    expiresAt: at + EXPIRY_MS,
  };
  return { op: "delivery.accept", delivery: { ...row, ...keyOf(event, inbound), payload: encodeInbound(inbound) }, at };
}

/** A binding whose agent is gone binds nothing; `svc doctor` names it. */
export function agentFor(event: InboundEvent, place: AcceptPlace, { ctx }: Pick<AcceptDeps, "ctx">): string {
  const agents = ctx.service("agents@1");
  const known = new Set(agents.list().map(({ id }) => id));
  const bindings = ctx.snapshot().bindings.filter(({ agentId }) => known.has(agentId));
  return boundAgent(event, place, bindings) ?? agents.resolve({}).agentId;
}
