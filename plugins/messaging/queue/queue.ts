import { type DeliveryDir, type DeliveryRow, type DeliveryState, type Lease, messageOf, type StoreOp, settledWithin } from "svc/sdk";
import { createExpiryClock, type ExpiryClock } from "svc/sdk/internal";
import { attempt, unknownTries } from "./attempt.ts";
import { fail, isElsewhere, isPassing, ownerOf, untilStored } from "./ends.ts";
import type { QueueKit } from "./kit.ts";
import { readOutgoing } from "./message.ts";
import { judgeLeftBehind } from "./verdict.ts";

/** The rows of this plugin. */
export const OUT: readonly DeliveryDir[] = ["out"];

/** Messages on their way at a time; each lane has one of them at most. */
const MAX_ACTIVE = 8;
/** Rows looked at in one round. */
const ROUND = 100;
/** Pause after a fault of the storage. */
const PAUSE_MS = 5_000;
/** The wall clock may jump: nobody sleeps longer than this. */
const LONGEST_SLEEP_MS = 60_000;
const SHORTEST_SLEEP_MS = 250;
/** Suspects of a crash go one after the other; who waits for that asks again. */
const ASK_AGAIN_MS = 1_000;
/** Name of this queue at the gate of the store. */
const OWNER = "out";
/** Time for calls under way at a stop, and for noting those that were cut off. */
const STOP_MS = { sending: 2_000, noting: 1_500 };

/** Carries out the rows `out`: one after the other in a lane, some lanes at a time. */
export interface Queue {
  /** Becomes the one queue that sends, and takes over what another boot or instance has left. Nothing is sent yet. Tries until the storage lets it. */
  recover(): Promise<void>;
  /** From here on messages are sent. */
  open(): void;
  /** Something may be due. */
  nudge(): void;
  /** Resolves when calls under way are settled or noted as unknown. */
  stop(): Promise<void>;
  /** Returns why nothing is sent at present. */
  problem(): string | undefined;
  /** Resolves when nothing is read and nothing is under way. */
  settled(): Promise<void>;
}

export function createQueue(kit: QueueKit): Queue {
  const active = new Map<string, Promise<void>>();
  const cut = new AbortController();
  let expiry: ExpiryClock | undefined;
  let state: "closed" | "open" | "stopping" = "closed";
  let timer: { dispose(): void | Promise<void> } | undefined;
  let pausedUntil = 0;
  let problem: string | undefined;
  let freed: { dispose(): void | Promise<void> } | undefined;
  let role: Lease | undefined;
  let looking: Promise<void> | undefined;
  let isNudged = false;

  const pauseFor = (error: unknown) => {
    if (problem === undefined) kit.logger.warn("the message queue is paused", { error: messageOf(error), seconds: PAUSE_MS / 1_000 });
    problem = messageOf(error);
    pausedUntil = kit.clock.monotonic() + PAUSE_MS;
  };

  const begin = (uid: string, work: () => Promise<void>) => {
    const held = kit.hold(`message ${uid}`);
    const job = work()
      .then(() => {
        problem = undefined;
      }, pauseFor)
      .finally(() => {
        active.delete(uid);
        void held.dispose();
        look();
      });
    active.set(uid, job);
  };

  /** One try, known to the gate: while a suspect of a crash is sent nothing else is. */
  const tryAlone = async (row: DeliveryRow) => {
    const turn = kit.store().deliveries.gate.enter(row.uid);
    try {
      await attempt(row, kit, cut.signal);
    } finally {
      turn.leave({ isCleared: !cut.signal.aborted });
    }
  };

  const sleep = (ms: number) => {
    void timer?.dispose();
    timer = kit.timers.setTimeout(look, Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, ms)));
  };

  /** One at a time: two readings of the same rows would begin each of them twice. */
  const startDue = async () => {
    const { deliveries } = kit.store();
    const now = kit.clock.now();
    // A clock that is far past the newest row at the start has jumped, too.
    expiry ??= createExpiryClock(kit.clock, (await deliveries.list({ dirs: OUT, limit: 1 }))[0]?.updatedAt);
    const isDoubted = expiry.read() === undefined;
    // What is too late is never sent. While the clock is doubted it is not ended either, and must not hide what is in time.
    const limit = isDoubted ? ROUND : MAX_ACTIVE + active.size;
    const [late, found, next] = await Promise.all([
      isDoubted ? [] : deliveries.overdue({ dirs: OUT, now, limit: ROUND }),
      deliveries.due({ dirs: OUT, now, limit }),
      deliveries.nextAt(OUT),
    ]);
    // A stop came while the rows were read.
    if (state !== "open") return;
    const ended = late.filter((row) => !active.has(row.uid) && row.state !== "sending");
    for (const row of ended.slice(0, MAX_ACTIVE - active.size)) begin(row.uid, () => expire(row, kit));
    const due = found.filter((row) => !active.has(row.uid) && row.expiresAt > now);
    const uids = due.map(({ uid }) => uid);
    const admitted = new Set(deliveries.gate.admit(OWNER, uids));
    const beginning = due.filter(({ uid }) => admitted.has(uid)).slice(0, MAX_ACTIVE - active.size);
    for (const row of beginning) begin(row.uid, () => tryAlone(row));
    if (admitted.size < uids.length) sleep(ASK_AGAIN_MS);
    else if (next !== undefined) sleep(next - now);
  };

  const look = () => {
    void timer?.dispose();
    timer = undefined;
    if (state !== "open") return;
    const restMs = pausedUntil - kit.clock.monotonic();
    if (restMs > 0) return sleep(restMs);
    isNudged = looking !== undefined;
    if (isNudged) return;
    looking = startDue()
      .catch((error: unknown) => {
        // A stop came while the rows were read; no timer may be set after it.
        if (state !== "open") return;
        pauseFor(error);
        sleep(PAUSE_MS);
      })
      .finally(() => {
        looking = undefined;
        // Messages that came while the rows were read may be missing among them.
        if (isNudged) look();
      });
  };

  return {
    async recover() {
      let hasFailed = false;
      const takeOverAll = async () => {
        // While the storage was away the role may have been lost; without it, what this queue sends itself would be found as left behind.
        if (!role || role.lost.aborted) role = await kit.acquire();
        await recover(kit, cut.signal);
      };
      const reported = (error: unknown) => {
        if (!hasFailed && isPassing(error))
          kit.logger.warn("messages of an earlier process cannot be taken over yet; trying again", { error: messageOf(error) });
        hasFailed = true;
        throw error;
      };
      await untilStored(kit, () => takeOverAll().catch(reported), cut.signal);
    },
    open() {
      if (state === "closed") {
        state = "open";
        freed = kit.store().deliveries.gate.onFree(() => look());
      }
      look();
    },
    nudge: () => look(),
    async stop() {
      state = "stopping";
      void timer?.dispose();
      void freed?.dispose();
      const settled = () => Promise.all(active.values());
      await settledWithin(settled(), STOP_MS.sending);
      cut.abort(new Error("the gateway stops"));
      await settledWithin(settled(), STOP_MS.noting);
      // The next queue finds the rows that could not be noted.
      await role
        ?.release()
        .catch((error: unknown) => kit.logger.debug("the role of the queue was not given back", { error: messageOf(error) }));
    },
    problem: () => problem,
    async settled() {
      while (looking || active.size > 0) await Promise.all([looking, ...active.values()]);
    },
  };
}

/** Recovers messages that were being sent when the process ended: the platform may have them. */
async function recover(kit: QueueKit, signal: AbortSignal): Promise<void> {
  const met = new Set<string>();
  for (let round = 0; round < ROUND; round++) {
    const found = await kit.store().deliveries.abandoned({ dirs: OUT, limit: ROUND });
    // A stop came while they were read: they are another queue's by now.
    signal.throwIfAborted();
    // Rows that could not be moved are found again, and again.
    const rows = found.filter(({ uid }) => !met.has(uid));
    if (rows.length === 0) return;
    for (const { uid } of rows) met.add(uid);
    await Promise.all(rows.map((row) => takeOver(row, kit)));
    kit.logger.warn(`${rows.length} messages were being sent when the gateway stopped; whether they arrived is unknown`);
  }
}

/** One commit for each: a row that cannot be taken over must not keep the others. */
async function takeOver(row: DeliveryRow, kit: QueueKit): Promise<void> {
  const { uid } = row;
  const { deliveries } = kit.store();
  const from: DeliveryState[] = ["sending", "running"];
  const at = kit.clock.now();
  const left = judgeLeftBehind(row, { verdict: deliveries.crashed(uid), suspicion: deliveries.gate.suspicion(uid) });
  const result = { reason: "the gateway stopped during the call", unknown: unknownTries(row) + 1, ...left.marks };
  const message = readOutgoing(uid, row.payload);
  if (left.isSpent && message)
    return fail(kit, { row, message, attempt: row.attempt, outcome: "failed", reason: "the gateway ended each time while it was sent" });
  try {
    await kit.store().commit([
      {
        op: "delivery.requeue",
        uid,
        from,
        ...ownerOf(row),
        to: "uncertain",
        attempt: left.attempt,
        notBefore: at + left.waitMs,
        result,
        at,
      },
    ]);
  } catch (error) {
    if (!isElsewhere(error)) throw error;
    const end: StoreOp = { op: "delivery.finish", uid, from, ...ownerOf(row), state: "failed", result: { reason: "unreadable" }, at };
    await kit
      .store()
      .commit([end])
      .catch((again: unknown) => {
        if (!isElsewhere(again)) throw again;
      });
  }
}

async function expire(row: DeliveryRow, kit: QueueKit): Promise<void> {
  const message = readOutgoing(row.uid, row.payload);
  const { attempt: tries, uid } = row;
  const reason = typeof row.result?.reason === "string" ? row.result.reason : "it had no turn";
  if (message) return fail(kit, { row, message, attempt: tries, outcome: "expired", reason });
  await kit.store().commit([
    {
      op: "delivery.finish",
      uid,
      from: ["accepted", "uncertain"],
      state: "expired",
      result: { reason: "unreadable" },
      at: kit.clock.now(),
    },
  ]);
}
