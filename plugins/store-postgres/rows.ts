import { createHash } from "node:crypto";
import type { IdempotencyRow, JsonObject, MessageRow, RunRow, RunState, SessionRow, SystemEventRow } from "svc/sdk";
import { toWellFormed } from "svc/sdk/internal";

/**
 * Rows of the contract and columns of the tables. What is searched or sorted by has a column, the rest is JSON in `body`.
 * Every `decode…` throws on JSON that does not parse; its caller sets such a row aside.
 */
export type Columns = Record<string, string | number | null>;
const finishedStates: ReadonlySet<RunState> = new Set(["ok", "error", "aborted", "timeout", "interrupted"]);

/** JSON of a value. A text column takes it as it is: U+0000 and lone surrogates are escapes in it. */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  return text;
}

/** Text as a column can hold it: what PostgreSQL has no code for becomes U+FFFD. */
export function cleanText(text: string): string {
  return toWellFormed(text).replaceAll("\0", "\uFFFD");
}

/** Columns of a session by the fields of the contract. */
const sessionColumns: Partial<Record<string, string>> = {
  sessionId: "session_id",
  agentId: "agent_id",
  kind: "kind",
  updatedAt: "updated_at",
  lastInteractionAt: "last_interaction_at",
  archived: "archived",
  label: "label",
  spawnedBy: "spawned_by",
  derivedTitle: "title",
};

/** Stay as they came, to be refused. */
const sessionIds = new Set(["sessionId", "agentId", "spawnedBy"]);

/** The parts of a session: the rest of it is merged as `jsonb`, so no text of it may be one that `jsonb` refuses. */
function splitSession(fields: Record<string, unknown>): { columns: Columns; rest: object } {
  const clean = JSON.parse(JSON.stringify(fields), (name, value: unknown) =>
    typeof value === "string" && !sessionIds.has(name) ? cleanText(value) : value,
  ) as object;
  const columns: Columns = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(clean)) {
    const column = sessionColumns[name];
    if (column === undefined) rest[name] = value;
    else columns[column] = typeof value === "boolean" ? Number(value) : (value as string | number | null);
  }
  const { label, title } = columns;
  if (label !== undefined) columns.label_fold = label === null ? null : toSearchText(String(label));
  if (title !== undefined) columns.title_fold = title === null ? null : toSearchText(String(title));
  return { columns, rest };
}

export function encodeSession({ key, ...fields }: SessionRow): Columns {
  const { columns, rest } = splitSession(fields);
  return { ...columns, key, key_fold: toSearchText(key), body: JSON.stringify(rest) };
}

export function encodePatch(patch: object): { columns: Columns; patch: object } {
  const { key: _, ...fields } = patch as Record<string, unknown>;
  const { columns, rest } = splitSession(fields);
  return { columns, patch: rest };
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

/** Case folding of the search; in JavaScript, so that it does not hang on the locale of the database. */
export function toSearchText(text: string): string {
  return text.toLowerCase();
}

export function encodeMessage({ id, sessionId, ts, role, runId, ...rest }: Omit<MessageRow, "seq">) {
  return { id, sessionId, ts, role, runId: runId ?? null, body: JSON.stringify(rest) };
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

export function encodeSystemEvent({ sessionKey, wake, ...rest }: Omit<SystemEventRow, "id">) {
  const same = createHash("sha256")
    .update(JSON.stringify(rest.same ?? rest.text))
    .digest("base64url");
  return { sessionKey, wake: wake ? 1 : 0, same, body: JSON.stringify(rest) };
}

export function decodeSystemEvent(c: Columns): SystemEventRow {
  return { ...parseObject(c.body), id: c.row, sessionKey: c.session_key, wake: c.wake === 1 } as SystemEventRow;
}

function parseObject(text: unknown): JsonObject {
  const value: unknown = JSON.parse(String(text));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("expected a JSON object");
  return value as JsonObject;
}
