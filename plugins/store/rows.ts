import type { IdempotencyRow, JsonObject, MessageRow, RunRow, RunState, SessionRow, SystemEventRow } from "svc/sdk";

/**
 * Rows of the contract and columns of the tables. What is searched or sorted by has a column, the rest is JSON in `body`.
 * Every `decode…` throws on JSON that does not parse; its caller sets such a row aside.
 */
export type Columns = Record<string, string | number | null>;
/** A row without the names of its columns, in the order of the one statement that takes it. */
export type Values = Array<string | number | null>;

const finishedStates: ReadonlySet<RunState> = new Set(["ok", "error", "aborted", "timeout", "interrupted"]);

export function encodeSession(row: SessionRow): Columns {
  const { key, sessionId, agentId, kind, updatedAt, lastInteractionAt, archived, label, derivedTitle, spawnedBy, ...rest } = row;
  return {
    key,
    session_id: sessionId,
    agent_id: agentId,
    kind,
    updated_at: updatedAt,
    last_interaction_at: lastInteractionAt ?? null,
    archived: archived ? 1 : 0,
    label: label ?? null,
    spawned_by: spawnedBy ?? null,
    title: derivedTitle ?? null,
    search: toSearchText([key, label, derivedTitle].filter((text) => text !== undefined).join("\n")),
    body: JSON.stringify(rest),
  };
}

export function decodeSession(c: Columns): SessionRow {
  return {
    ...parseObject(c.body),
    key: c.key,
    sessionId: c.session_id,
    agentId: c.agent_id,
    kind: c.kind,
    updatedAt: c.updated_at,
    archived: c.archived === 1,
    ...(c.last_interaction_at === null ? {} : { lastInteractionAt: c.last_interaction_at }),
    ...(c.label === null ? {} : { label: c.label }),
    ...(c.spawned_by === null ? {} : { spawnedBy: c.spawned_by }),
    ...(c.title === null ? {} : { derivedTitle: c.title }),
  } as SessionRow;
}

/** Case folding of the search; in JavaScript, because SQLite's own knows ASCII only. */
export function toSearchText(text: string): string {
  return text.toLowerCase();
}

/** The session stands twice: its next number is looked for, too. */
export function encodeMessage(message: Omit<MessageRow, "seq">): Values {
  const { id, sessionId, ts, role, runId, ...rest } = message;
  return [sessionId, sessionId, id, ts, role, runId ?? null, JSON.stringify(rest)];
}

export function decodeMessage(c: Columns): MessageRow {
  return {
    ...parseObject(c.body),
    id: c.id,
    seq: c.seq,
    sessionId: c.session_id,
    ts: c.ts,
    role: c.role,
    ...(c.run_id === null ? {} : { runId: c.run_id }),
  } as MessageRow;
}

export function encodeRun(run: RunRow): Columns {
  return {
    run_id: run.runId,
    session_key: run.sessionKey,
    session_id: run.sessionId,
    agent_id: run.agentId,
    state: run.state,
    trigger: run.trigger,
    boot_id: run.bootId,
    created_at: run.createdAt,
    started_at: run.startedAt ?? null,
    ended_at: run.endedAt ?? null,
    finished_at: finishedStates.has(run.state) ? (run.endedAt ?? run.createdAt) : null,
    outcome: run.outcome === undefined ? null : JSON.stringify(run.outcome),
  };
}

export function decodeRun(c: Columns): RunRow {
  return {
    runId: c.run_id,
    sessionKey: c.session_key,
    sessionId: c.session_id,
    agentId: c.agent_id,
    state: c.state,
    trigger: c.trigger,
    bootId: c.boot_id,
    createdAt: c.created_at,
    ...(c.started_at === null ? {} : { startedAt: c.started_at }),
    ...(c.ended_at === null ? {} : { endedAt: c.ended_at }),
    ...(c.outcome === null ? {} : { outcome: parseObject(c.outcome) }),
  } as RunRow;
}

export function encodeIdempotency(row: IdempotencyRow): Columns {
  return {
    family: row.family,
    key: row.key,
    value: JSON.stringify(row.value),
    created_at: row.createdAt,
    expires_at: row.expiresAt,
  };
}

export function decodeIdempotency(c: Columns): IdempotencyRow {
  return {
    family: String(c.family),
    key: String(c.key),
    value: parseObject(c.value),
    createdAt: Number(c.created_at),
    expiresAt: Number(c.expires_at),
  };
}

/** `session_key`, `wake`, `body`. */
export type EventValues = [string, 0 | 1, string];

export function encodeSystemEvent({ sessionKey, wake, ...rest }: Omit<SystemEventRow, "id">): EventValues {
  return [sessionKey, wake ? 1 : 0, JSON.stringify(rest)];
}

export function decodeSystemEvent(c: Columns): SystemEventRow {
  return { ...parseObject(c.body), id: c.row, sessionKey: c.session_key, wake: c.wake === 1 } as SystemEventRow;
}

function parseObject(text: unknown): JsonObject {
  const value: unknown = JSON.parse(String(text));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("expected a JSON object");
  return value as JsonObject;
}
