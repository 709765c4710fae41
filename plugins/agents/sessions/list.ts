import type { JsonObject, ParamsOf, SessionQuery, SessionRow, SvcConfig } from "svc/sdk";
import { RawJson } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { contextTokensOf, toWireSession } from "./wire.ts";

const DEFAULT_LIMIT = 100;
/** The same question within this time gets the same text, unless something changed. */
const FRESH_MS = 1_000;
/** Different questions that are remembered. */
const MAX_ANSWERS = 32;
/** Longer answers are not remembered. */
const MAX_ANSWER_CHARS = 1_000_000;

type ListParams = ParamsOf<"sessions.list">;
type ListKit = Pick<Kit, "ctx" | "store" | "runs" | "config" | "directory" | "models" | "catalog">;

interface Answer {
  text: Promise<string>;
  /** State that the cached list was built from. */
  seen: { sessions: number; runs: number; config: SvcConfig; at: number };
}

/** `sessions.list` as JSON text, made once for all who ask the same at once: after a restart every client does. */
export interface SessionLister {
  /** @throws {SvcError} `unknown-agent` */
  list(params: ListParams): Promise<RawJson>;
}

export function createSessionLister(kit: ListKit): SessionLister {
  const answers = new Map<string, Answer>();
  const isFresh = ({ seen }: Answer): boolean =>
    seen.sessions === kit.store().sessions.version() &&
    seen.runs === kit.runs.version &&
    seen.config === kit.config &&
    kit.ctx.clock.monotonic() - seen.at <= FRESH_MS;

  return {
    async list(params) {
      const question = JSON.stringify(Object.entries(params).sort());
      const known = answers.get(question);
      if (known && isFresh(known)) return new RawJson(await known.text);
      const seen = {
        sessions: kit.store().sessions.version(),
        runs: kit.runs.version,
        config: kit.config,
        at: kit.ctx.clock.monotonic(),
      };
      // Remembered before it is there, so that whoever asks while the rows are read gets the same.
      const answer = { text: listSessions(kit, params).then((listed) => JSON.stringify(listed)), seen };
      const forget = () => {
        if (answers.get(question) === answer) answers.delete(question);
      };
      answers.delete(question);
      answers.set(question, answer);
      const [oldest] = answers.keys();
      if (answers.size > MAX_ANSWERS && oldest !== undefined) answers.delete(oldest);
      try {
        const text = await answer.text;
        if (text.length > MAX_ANSWER_CHARS) forget();
        return new RawJson(text);
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

/** One page of sessions, newest first. @throws {SvcError} `unknown-agent` */
export async function listSessions(kit: ListKit, params: ListParams): Promise<JsonObject> {
  const ts = kit.ctx.clock.now();
  const limit = params.limit ?? DEFAULT_LIMIT;
  const offset = params.offset ?? 0;
  const agent = kit.directory.get(params.agentId ?? kit.directory.defaultId);
  const { rows, total } = await kit.store().sessions.list(toQuery(params, kit, { limit, offset, ts }));
  const standard = kit.models.standard(agent);
  // A row that cannot be read takes its place in the count all the same.
  const hasMore = offset + limit < total;
  return {
    ts,
    path: kit.store().status().endpoint,
    count: rows.length,
    totalCount: total,
    limitApplied: limit,
    hasMore,
    nextOffset: hasMore ? offset + limit : null,
    defaults: {
      modelProvider: standard?.provider ?? null,
      model: standard?.model ?? null,
      contextTokens: contextTokensOf(kit, { agentId: agent.id }) ?? null,
    },
    sessions: wireRows(kit, rows, ts).map((row) => withoutTexts(row, params)),
  };
}

/** Titles and last messages are told to those who ask for them. */
function withoutTexts(row: JsonObject, { includeDerivedTitles, includeLastMessage }: ListParams): JsonObject {
  const { derivedTitle, lastMessagePreview, ...rest } = row;
  return {
    ...rest,
    ...(includeDerivedTitles && derivedTitle !== undefined ? { derivedTitle } : {}),
    ...(includeLastMessage && lastMessagePreview !== undefined ? { lastMessagePreview } : {}),
  };
}

/** Builds the rows and computes what they share only once. */
function wireRows(kit: ListKit, rows: readonly SessionRow[], now: number): JsonObject[] {
  const active = new Map<string, string[]>();
  for (const run of kit.runs.values()) active.set(run.sessionKey, [...(active.get(run.sessionKey) ?? []), run.id]);
  const windows = new Map<string, number | undefined>();
  const windowOf = (row: SessionRow): number | undefined => {
    const id = `${row.agentId} ${row.model ?? ""}`;
    if (!windows.has(id)) windows.set(id, contextTokensOf(kit, row));
    return windows.get(id);
  };
  return rows.map((row) => toWireSession(row, { activeRunIds: active.get(row.key) ?? [], now, contextTokens: windowOf(row) }));
}

function toQuery(
  params: ListParams,
  { directory }: Pick<Kit, "directory">,
  page: { limit: number; offset: number; ts: number },
): SessionQuery {
  const { agentId, archived, label, search, sortBy, spawnedBy, activeMinutes } = params;
  const withoutKinds = [...(params.includeGlobal ? [] : (["global"] as const)), ...(params.includeUnknown ? [] : (["unknown"] as const))];
  return {
    limit: page.limit,
    offset: page.offset,
    withoutKinds,
    ...(agentId === undefined ? {} : { agentId: directory.get(agentId).id }),
    ...(archived === undefined ? {} : { archived }),
    ...(label === undefined ? {} : { label }),
    ...(spawnedBy === undefined ? {} : { spawnedBy: directory.resolve({ sessionKey: spawnedBy }).sessionKey }),
    ...(search === undefined ? {} : { search }),
    ...(sortBy === undefined ? {} : { sortBy }),
    ...(activeMinutes === undefined ? {} : { updatedAfter: page.ts - activeMinutes * 60_000 }),
  };
}
