import { commonErrors, type DeliveryRow, messageOf, methodOf, type PluginContext, type ResultOf } from "svc/sdk";
import { outboundCounts } from "./health.ts";
import { messagingMethods } from "./protocol-methods.ts";
import { undeliveredNote } from "./queue/ends.ts";
import { lifetimeMs, readOutgoing } from "./queue/message.ts";
import { OUT, type Queue } from "./queue/queue.ts";
import type { Waits } from "./waits.ts";

const DEFAULT_LIMIT = 100;
const waitingStates = ["accepted", "sending", "uncertain"] as const;
const lostStates = ["failed", "expired"] as const;

type QueueEntry = ResultOf<"messaging.queue.list">["messages"][number];

/** `messaging.queue.list`, `messaging.queue.retry`, `messaging.queue.drop`. */
export function registerQueueMethods(ctx: PluginContext, { queue, waits }: { queue: Pick<Queue, "nudge">; waits: Waits }): void {
  const store = () => ctx.service("store@1");
  const rowOf = (uid: string): DeliveryRow => {
    const row = store().deliveries.get(uid);
    if (row?.dir !== "out") throw commonErrors.unknownDelivery({ uid });
    return row;
  };
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.list"),
    handler: ({ all, before, limit = DEFAULT_LIMIT }) => {
      const states = all ? [...waitingStates, ...lostStates, "done" as const] : [...waitingStates, ...lostStates];
      const rows = store().deliveries.list({ dirs: OUT, states, limit, ...(before === undefined ? {} : { before }) });
      return { messages: rows.map(toEntry), counts: outboundCounts(store()) };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.retry"),
    handler: async ({ uid }) => {
      const row = rowOf(uid);
      const at = ctx.clock.now();
      const origin = readOutgoing(uid, row.payload)?.origin ?? "chat";
      const from = ["failed", "expired", "accepted", "uncertain"] as const;
      // It starts over: a message that may have arrived is sent again because a person says so.
      const fresh = { to: "accepted", attempt: 0, expiresAt: at + lifetimeMs(origin), result: {} } as const;
      await store().commit([{ op: "delivery.requeue", uid, from, ...fresh, at }]);
      queue.nudge();
      return { ok: true, uid };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.drop"),
    handler: async ({ uid }) => {
      const row = rowOf(uid);
      await drop(row, ctx);
      waits.look(uid);
      queue.nudge();
      return { ok: true, uid };
    },
  });
}

/** Given up by a person; a note in its session says so. */
async function drop(row: DeliveryRow, ctx: PluginContext): Promise<void> {
  const { uid } = row;
  const result = { status: "dropped", reason: "an operator has dropped it" };
  await ctx
    .service("store@1")
    .commit([{ op: "delivery.finish", uid, from: ["accepted", "uncertain"], state: "failed", result, at: ctx.clock.now() }]);
  ctx.logger.info(`message ${uid} was dropped by an operator`);
  const message = readOutgoing(uid, row.payload);
  if (!message) return;
  const note = { sessionKey: message.sessionKey, ...undeliveredNote(row, message, result.reason), label: "delivery" };
  await ctx
    .service("agents@1")
    .inject(note)
    .catch((error: unknown) => ctx.logger.warn(`message ${uid}: its note could not be stored`, { error: messageOf(error) }));
}

function toEntry({ uid, id, lane, state, attempt, createdAt, updatedAt, expiresAt, notBefore, result }: DeliveryRow): QueueEntry {
  return {
    uid,
    id,
    lane,
    state: state as QueueEntry["state"],
    attempt,
    createdAt,
    updatedAt,
    expiresAt,
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(typeof result?.reason === "string" ? { reason: result.reason } : {}),
    ...(typeof result?.messageId === "string" ? { messageId: result.messageId } : {}),
  };
}
