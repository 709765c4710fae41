import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeliveryOwner, LogFields, Logger, MessageRow, NewDelivery, RunRow, SessionRow, StoreOp } from "svc/sdk";
import type { Notice } from "svc/sdk/internal";
import { type OpenStore, type OpenStoreOptions, openStore } from "../open-store.ts";

/** A folder with a state database; stores are opened in it as often as a test wants. */
export interface TempStore {
  readonly dir: string;
  readonly path: string;
  readonly logs: Array<{ level: string; message: string; fields?: LogFields }>;
  readonly notices: Notice[];
  open(options?: Partial<OpenStoreOptions>): Promise<OpenStore>;
}

/** `cleanup` is vitest's `onTestFinished` or `afterAll`: closes what is open, removes the folder. */
export function tempStore(cleanup: (fn: () => Promise<void>) => void): TempStore {
  const dir = mkdtempSync(join(tmpdir(), "svc-store-"));
  const path = join(dir, "state.sqlite");
  const stores: OpenStore[] = [];
  const logs: TempStore["logs"] = [];
  const notices: Notice[] = [];
  cleanup(async () => {
    for (const store of stores) await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    dir,
    path,
    logs,
    notices,
    async open(options = {}) {
      const store = await openStore({
        path,
        clock: systemClock,
        logger: recordingLogger(logs),
        onNotice: (notice) => notices.push(notice),
        ...options,
      });
      stores.push(store);
      return store;
    },
  };
}

const systemClock = { now: () => Date.now(), monotonic: () => performance.now() };

function recordingLogger(logs: TempStore["logs"]): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) => {
    logs.push({ level, message, ...(fields === undefined ? {} : { fields }) });
  };
  const logger: Logger = {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => logger,
  };
  return logger;
}

export function session(key: string, fields: Partial<SessionRow> = {}): SessionRow {
  return {
    key,
    sessionId: `transcript-of-${key}`,
    agentId: "main",
    kind: "direct",
    createdAt: 1,
    updatedAt: 1,
    sessionStartedAt: 1,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
    ...fields,
  };
}

export function run(runId: string, fields: Partial<RunRow> = {}): RunRow {
  return {
    runId,
    sessionKey: "k",
    sessionId: "s",
    agentId: "main",
    state: "queued",
    trigger: "test",
    bootId: "b",
    createdAt: 1,
    ...fields,
  };
}

export function message(id: string, fields: Partial<Omit<MessageRow, "seq">> = {}): Omit<MessageRow, "seq"> {
  return { id, sessionId: "s", ts: 1, role: "user", content: [{ type: "text", text: `text of ${id}` }], ...fields };
}

export const put = (row: SessionRow): StoreOp => ({ op: "session.put", session: row });
export const append = (id: string, fields: Partial<Omit<MessageRow, "seq">> = {}): StoreOp => ({
  op: "message.append",
  message: message(id, fields),
});

export function delivery(uid: string, fields: Partial<NewDelivery> = {}): NewDelivery {
  return { uid, dir: "hook-agent", lane: `lane of ${uid}`, payload: { text: `payload of ${uid}` }, expiresAt: 1_000_000, ...fields };
}

/** Taken on at 1,000. */
export const accept = (uid: string, fields: Partial<NewDelivery> = {}, at = 1_000): StoreOp => ({
  op: "delivery.accept",
  delivery: delivery(uid, fields),
  at,
});
export const claim = (uid: string, fields: { to?: "running" | "sending"; leaseBoot?: string; at?: number } = {}): StoreOp => ({
  op: "delivery.claim",
  uid,
  to: "running",
  leaseBoot: "b1",
  at: 2_000,
  ...fields,
});
/** Owner of a delivery after its first `claim`. */
export const firstOwner: DeliveryOwner = { leaseBoot: "b1", attempt: 1 };
/** Ends a delivery that waits; with `owner` one that was claimed. */
export const finish = (uid: string, state: "done" | "failed" | "expired" = "done", { at = 3_000, owner }: Finish = {}): StoreOp => ({
  op: "delivery.finish",
  uid,
  from: ["accepted", "running", "sending", "uncertain"],
  ...(owner ? { owner } : {}),
  state,
  result: { status: state },
  at,
});
interface Finish {
  at?: number;
  owner?: DeliveryOwner;
}

/** Polls until it holds; throws after 15 s. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 15_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`did not happen within 15 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
