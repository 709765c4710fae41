import {
  commonErrors,
  type DeliveryRow,
  type DeliveryState,
  messageOf,
  methodOf,
  type PluginContext,
  type ResultOf,
  type Store,
  type StoreOp,
} from "svc/sdk";
import { outboundCounts } from "../health.ts";
import { messagingMethods } from "../protocol-methods.ts";
import { undeliveredNote } from "../queue/ends.ts";
import { OUT } from "../queue/kit.ts";
import { lifetimeMs, partsOf, partUid, readOutgoing } from "../queue/message.ts";
import type { Queue } from "../queue/queue.ts";

const DEFAULT_LIMIT = 100;
const waitingStates = ["accepted", "sending", "uncertain"] as const;
const lostStates = ["failed", "expired"] as const;
const retried = ["failed", "expired", "accepted", "uncertain"] as const satisfies readonly DeliveryState[];
const dropped = ["accepted", "uncertain"] as const satisfies readonly DeliveryState[];

type QueueEntry = ResultOf<"messaging.queue.list">["messages"][number];

/** `messaging.queue.list`, `messaging.queue.retry`, `messaging.queue.drop`. */
export function registerQueueMethods(ctx: PluginContext, { queue }: { queue: Pick<Queue, "nudge"> }): void {
  const store = () => ctx.service("store@2");
  const rowOf = async (uid: string): Promise<DeliveryRow> => {
    const row = await store().deliveries.get(uid);
    if (row?.dir !== "out") throw commonErrors.unknownDelivery({ uid });
    return row;
  };
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.list"),
    handler: async ({ all, before, limit = DEFAULT_LIMIT }) => {
      const states = all ? [...waitingStates, ...lostStates, "done" as const] : [...waitingStates, ...lostStates];
      const rows = await store().deliveries.list({ dirs: OUT, states, limit, ...(before === undefined ? {} : { before }) });
      return { messages: rows.map(toEntry), counts: await outboundCounts(store()) };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.retry"),
    handler: async ({ uid }) => {
      const rows = await partsIn(await rowOf(uid), retried, store());
      const at = ctx.clock.now();
      const origin = readOutgoing(uid, rows[0]?.payload)?.origin ?? "chat";
      // It starts over: a message that may have arrived is sent again because a person says so.
      const fresh = { from: retried, to: "accepted", attempt: 0, expiresAt: at + lifetimeMs(origin), result: {}, at } as const;
      await store().commit(rows.map((row): StoreOp => ({ op: "delivery.requeue", uid: row.uid, ...fresh })));
      queue.nudge();
      return { ok: true, uid };
    },
  });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "messaging.queue.drop"),
    handler: async ({ uid }) => {
      const [row] = await partsIn(await rowOf(uid), dropped, store());
      // The parts behind it end with it.
      if (row) await drop(row, ctx);
      queue.nudge();
      return { ok: true, uid };
    },
  });
}

/** The parts of a message from this one on that are in one of the states; the row itself where none is. */
async function partsIn(row: DeliveryRow, states: readonly DeliveryState[], store: Store): Promise<DeliveryRow[]> {
  const { message, index, of } = partsOf(row);
  const rows = [row];
  for (let next = index + 1; next <= of; next++) {
    const part = await store.deliveries.get(partUid(message, next));
    if (part) rows.push(part);
  }
  const found = rows.filter(({ state }) => states.includes(state));
  return found.length > 0 ? found : [row];
}

/** Given up by a person; a note in its session says so. */
async function drop(row: DeliveryRow, ctx: PluginContext): Promise<void> {
  const { uid } = row;
  const result = { status: "dropped", reason: "an operator has dropped it" };
  await ctx.service("store@2").commit([{ op: "delivery.finish", uid, from: dropped, state: "failed", result, at: ctx.clock.now() }]);
  ctx.logger.info(`message ${uid} was dropped by an operator`);
  const message = readOutgoing(uid, row.payload);
  if (!message || message.isNotice) return;
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
