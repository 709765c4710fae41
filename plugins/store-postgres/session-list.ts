import type { SessionQuery, SessionRow } from "svc/sdk";
import type { Param, Row } from "./database.ts";
import { toSearchText } from "./rows.ts";

const mostRows = 1_000;

/** Whole number from 1 to 1,000; anything else is brought to the nearest. */
export function boundLimit(limit: number): number {
  return Math.min(mostRows, Math.max(1, Math.trunc(limit) || 1));
}

/** Runs a session query: newest first, ties by key. */
export function createSessionList(
  find: (text: string, params: Param[]) => Promise<SessionRow[]>,
  rows: { one<T>(table: string, decode: (row: Row) => T, text: string, params: Param[]): Promise<T | undefined> },
): (query: SessionQuery) => Promise<{ rows: SessionRow[]; total: number }> {
  return async (query) => {
    const sort = query.sortBy === "lastInteractionAt" ? "last_interaction_at DESC NULLS LAST" : "updated_at DESC";
    const { where, params } = toWhere(query);
    const offset = Math.max(0, Math.trunc(query.offset ?? 0) || 0);
    const [found, total] = await Promise.all([
      find(`SELECT * FROM sessions ${where} ORDER BY ${sort}, key LIMIT $${params.length + 1} OFFSET $${params.length + 2}`, [
        ...params,
        boundLimit(query.limit),
        offset,
      ]),
      rows.one("sessions", (row) => Number(row.n), `SELECT count(*) AS n FROM sessions ${where}`, params),
    ]);
    return { rows: found, total: total ?? 0 };
  };
}

function toWhere(query: SessionQuery): { where: string; params: Param[] } {
  const terms: string[] = [];
  const params: Param[] = [];
  const add = (term: (at: string) => string, value: string | number | undefined) => {
    if (value === undefined) return;
    params.push(value);
    terms.push(term(`$${params.length}`));
  };
  add((at) => `agent_id = ${at}`, query.agentId);
  add((at) => `archived = ${at}`, query.archived === undefined ? undefined : Number(query.archived));
  add((at) => `label = ${at}`, query.label);
  add((at) => `spawned_by = ${at}`, query.spawnedBy);
  for (const kind of new Set(query.withoutKinds)) add((at) => `kind <> ${at}`, kind);
  add((at) => `updated_at >= ${at}`, query.updatedAfter);
  add((at) => `strpos(search, ${at}) > 0`, query.search ? toSearchText(query.search) : undefined);
  return { where: terms.length === 0 ? "" : `WHERE ${terms.join(" AND ")}`, params };
}
