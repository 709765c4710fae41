import type { SessionQuery } from "svc/sdk";
import type { Sqlite, Statement } from "./native.ts";
import { type Columns, toSearchText } from "./rows.ts";

const mostRows = 1_000;

/** Whole number from 1 to 1,000; anything else is brought to the nearest. */
export function boundLimit(limit: number): number {
  return Math.min(mostRows, Math.max(1, Math.trunc(limit) || 1));
}

/**
 * Runs a session query: newest first, ties by key. Ids are chosen from an index, so that only the rows of the page are read. Kinds that are left out are
 * few: they are counted and subtracted, so that nobody walks through all the others.
 */
export function createSessionList(db: Sqlite): (query: SessionQuery) => { rows: Columns[]; total: number } {
  const statements = new Map<string, { page: Statement; total: Statement }>();

  // One pair per combination of filters: at most 1,024.
  const prepare = (where: string, sort: string) => {
    const known = statements.get(where + sort);
    if (known) return known;
    const page = db.prepare(
      `SELECT s.* FROM (SELECT row FROM sessions ${where} ORDER BY ${sort} DESC, key LIMIT @limit OFFSET @offset) AS found
       JOIN sessions AS s ON s.row = found.row ORDER BY s.${sort} DESC, s.key`,
    );
    const made = { page, total: db.prepare(`SELECT count(*) FROM sessions ${where}`).pluck() };
    statements.set(where + sort, made);
    return made;
  };

  return db.transaction((query: SessionQuery) => {
    const sort = query.sortBy === "lastInteractionAt" ? "last_interaction_at" : "updated_at";
    const { where, values } = toWhere(query);
    const { page } = prepare(where, sort);
    const all = toWhere({ ...query, withoutKinds: [] });
    const count = (kind?: string) =>
      kind === undefined
        ? (prepare(all.where, sort).total.get(all.values) as number)
        : (prepare(`${all.where === "" ? "WHERE" : `${all.where} AND`} kind = @kind`, sort).total.get({ ...all.values, kind }) as number);
    const offset = Math.max(0, Math.trunc(query.offset ?? 0) || 0);
    return {
      rows: page.all({ ...values, limit: boundLimit(query.limit), offset }) as Columns[],
      total: [...new Set(query.withoutKinds)].reduce((left, kind) => left - count(kind), count()),
    };
  });
}

function toWhere(query: SessionQuery): { where: string; values: Record<string, string | number> } {
  const terms: string[] = [];
  const values: Record<string, string | number> = {};
  const add = (term: string, name: string, value: string | number | undefined) => {
    if (value === undefined) return;
    terms.push(term);
    values[name] = value;
  };
  add("agent_id = @agentId", "agentId", query.agentId);
  add("archived = @archived", "archived", query.archived === undefined ? undefined : Number(query.archived));
  add("label = @label", "label", query.label);
  add("spawned_by = @spawnedBy", "spawnedBy", query.spawnedBy);
  for (const kind of new Set(query.withoutKinds)) add(`kind <> @without_${kind}`, `without_${kind}`, kind);
  add("updated_at >= @updatedAfter", "updatedAfter", query.updatedAfter);
  add("instr(search, @search) > 0", "search", query.search ? toSearchText(query.search) : undefined);
  return { where: terms.length === 0 ? "" : `WHERE ${terms.join(" AND ")}`, values };
}
