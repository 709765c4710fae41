import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageRow, SessionRow, Store } from "svc/sdk";
import type { TranscriptMessage, TranscriptPage } from "../worker-protocol.ts";
import { isOfMachine, isRemembered, toTranscriptMessage } from "./eligible.ts";
import { createSlices, SLICE_MS } from "./slices.ts";

/** The part of the store that transcripts are read through. */
export type TranscriptStore = Pick<Store, "messages" | "runs"> & { sessions: Pick<Store["sessions"], "bySessionId" | "list" | "version"> };

/** Transcripts of the agents, in parts small enough for the main thread. */
export interface Transcripts {
  /** Present transcripts of the agent that belong into its memory, newest first, at most 10,000. */
  list(agentId: string): Promise<Array<{ sessionId: string; messages: number }>>;
  /** A part of a transcript; undefined when it is gone or does not belong into the agent's memory. */
  read(agentId: string, sessionId: string, after: number): Promise<TranscriptPage | undefined>;
}

const MAX_SESSIONS = 10_000;
const LIST_ROWS = 100;
/** Records and characters of one part. */
const PAGE_ROWS = 1_000;
const PAGE_CHARS = 500_000;

/** @param store the service, asked for at each use; throws while nobody provides it */
export function createTranscripts(store: () => TranscriptStore): Transcripts {
  return {
    async list(agentId) {
      const listed: Array<{ sessionId: string; messages: number }> = [];
      const pace = createPace();
      for await (const { sessionId } of rememberedSessions(store, { agentId })) {
        listed.push({ sessionId, messages: await store().messages.count(sessionId) });
        if (listed.length >= MAX_SESSIONS) break;
        await pace();
      }
      return listed;
    },
    async read(agentId, sessionId, after) {
      const session = await store().sessions.bySessionId(sessionId);
      if (!session || session.agentId !== agentId || !isRemembered(session)) return undefined;
      return readPage(store, sessionId, after);
    },
  };
}

/** Sessions of the agent whose transcripts belong into memory, newest first. One that moves to the top meanwhile pushes another one down, none is lost. */
export async function* rememberedSessions(
  store: () => TranscriptStore,
  query: { agentId: string; updatedAfter?: number },
): AsyncGenerator<SessionRow> {
  const seen = new Set<string>();
  for (let offset = 0; ; offset += LIST_ROWS) {
    const { rows } = await store().sessions.list({ ...query, limit: LIST_ROWS, offset });
    for (const row of rows) {
      if (seen.has(row.sessionId) || !isRemembered(row)) continue;
      seen.add(row.sessionId);
      yield row;
    }
    if (rows.length < LIST_ROWS) return;
    await nextTurn();
  }
}

async function readPage(store: () => TranscriptStore, sessionId: string, after: number): Promise<TranscriptPage> {
  const messages: TranscriptMessage[] = [];
  const triggerOf = createTriggers(store);
  let last = after;
  let chars = 0;
  const slices = createSlices();
  for (let rows = 0; rows < PAGE_ROWS && chars < PAGE_CHARS; rows += slices.rows) {
    const found = await slices.read(async (limit) => {
      const read = await store().messages.scan(sessionId, last, limit);
      for (const row of read) {
        const trigger = await triggerOf(row);
        const message = isOfMachine(row, () => trigger) ? undefined : toTranscriptMessage(row);
        chars += message?.text.length ?? 0;
        if (message) messages.push(message);
      }
      return read;
    });
    last = found.at(-1)?.seq ?? last;
    if (slices.isLast) return { messages, total: await store().messages.count(sessionId) };
    await nextTurn();
  }
  return { messages, total: await store().messages.count(sessionId), next: last };
}

/** Finds the trigger of a run. The rows of one stand together, so one answer is enough to remember. */
export function createTriggers(store: () => TranscriptStore): (row: MessageRow) => Promise<string | undefined> {
  let last: { runId: string; trigger: string | undefined } | undefined;
  return async ({ runId }) => {
    if (runId === undefined) return undefined;
    if (last?.runId !== runId) last = { runId, trigger: (await store().runs.get(runId))?.trigger };
    return last.trigger;
  };
}

function createPace(): () => Promise<void> {
  let sliceStart = performance.now();
  return async () => {
    if (performance.now() - sliceStart < SLICE_MS) return;
    await nextTurn();
    sliceStart = performance.now();
  };
}
