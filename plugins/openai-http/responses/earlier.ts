import { createHash } from "node:crypto";
import { isRecord, type MessageBlock, messageOf, type PluginContext, type RunRequest, stripFrames } from "svc/sdk";
import { openAiHttpErrors } from "../errors.ts";
import { GivenHistories } from "./given-history.ts";
import { responseOfMessage } from "./resource.ts";

/** Time after which a response cannot be continued any more. */
const TTL_MS = 30 * 60_000;
/** Newest responses that can be continued. */
const MAX_ROWS = 500;
/** Rows that are dropped with one that is added. */
const MAX_DROPPED = 20;
const PREFIX = "response:";
/** Newest messages of a conversation among which an answer is looked for. */
const MAX_MESSAGES = 400;
/** Between the texts of one answer. */
const BETWEEN_TEXTS = "\n\n";

type GivenTurns = NonNullable<RunRequest["history"]>;

/** The caller of a response, and the session key it named. Another one may not continue it. */
export interface ResponseOwner {
  /** A secret, from `callerOf`. */
  caller: string;
  agentId: string;
  /** Value of `x-svc-session-key`. */
  headerKey: string | null;
}

/** Row of a response. `owner` is a digest: credentials are not kept. */
interface Row {
  sessionKey: string;
  sessionId: string;
  owner: string;
  at: number;
  /** Its history is remembered, and not in the transcript. */
  hasGiven?: true;
}

/** Responses that later requests can continue: rows of the store, so that they outlive a restart. */
export class EarlierResponses {
  readonly #ctx: Pick<PluginContext, "kv" | "clock" | "logger" | "service">;
  /** Times of the rows by key, oldest first. */
  #known: Promise<Map<string, number>> | undefined;
  readonly #given = new GivenHistories(TTL_MS);

  constructor(ctx: Pick<PluginContext, "kv" | "clock" | "logger" | "service">) {
    this.#ctx = ctx;
  }

  /**
   * Never rejects: an answer that cannot be continued is an answer all the same.
   * @param given history of its session that is not stored; undefined: unknown, so that only a row that is there is renewed
   */
  async record(id: string, session: { sessionKey: string; sessionId: string }, owner: ResponseOwner, given?: GivenTurns): Promise<void> {
    const { kv, clock, logger } = this.#ctx;
    const { sessionKey, sessionId } = session;
    try {
      const known = await this.#rows();
      const at = clock.now();
      const before = given ? undefined : toRow(await kv.get(PREFIX + id));
      if (!given && !before) return;
      const hasGiven = given ? given.length > 0 : before?.hasGiven === true;
      if (given && hasGiven) this.#given.keep(sessionKey, given, at);
      const row: Row = { sessionKey, sessionId, owner: digestOf(id, owner), at, ...(hasGiven ? { hasGiven } : {}) };
      await kv.set(PREFIX + id, row);
      known.delete(PREFIX + id);
      known.set(PREFIX + id, at);
      this.#tidy(known, at);
    } catch (error) {
      logger.warn("a response cannot be continued: its row could not be stored", { id, error: messageOf(error) });
    }
  }

  /**
   * The session of a response, for its owner, and the long history that it began with: it may be forgotten while the request is read.
   * @throws {SvcError} `v1-previous-response-not-found` for one that is unknown, of somebody else, too old, whose session has begun anew, or whose long
   * history was lost with a restart
   */
  async sessionOf(id: string, owner: ResponseOwner): Promise<{ sessionKey: string; given: GivenTurns }> {
    const row = /^resp_[0-9a-f-]{36}$/.test(id) ? await this.#find(id, owner) : undefined;
    const session = row && (await this.#ctx.service("store@2").sessions.get(row.sessionKey));
    const given = row && this.#given.of(row.sessionKey, this.#ctx.clock.now());
    const isWhole = row?.hasGiven !== true || given !== undefined;
    if (!row || !isWhole || session?.sessionId !== row.sessionId)
      throw openAiHttpErrors.v1PreviousResponseNotFound({ id: id.slice(0, 100) });
    return { sessionKey: row.sessionKey, given: given ?? [] };
  }

  /** The long history that a session of a response began with. */
  givenOf(sessionKey: string): GivenTurns {
    return this.#given.of(sessionKey, this.#ctx.clock.now()) ?? [];
  }

  /** The text of an earlier answer by the id of its message; undefined for one that is not known. */
  async textOf(itemId: string, owner: ResponseOwner): Promise<string | undefined> {
    const id = responseOfMessage(itemId);
    const row = id === undefined ? undefined : await this.#find(id, owner);
    if (id === undefined || row === undefined) return undefined;
    const { runs, messages } = this.#ctx.service("store@2");
    const texts = (await runs.get(id))?.outcome?.texts;
    if (Array.isArray(texts)) return texts.join(BETWEEN_TEXTS);
    const rows = await messages.page(row.sessionId, { limit: MAX_MESSAGES });
    const said = rows.flatMap(({ role, runId, content }) => (role === "assistant" && runId === id ? [textOf(content)] : []));
    return said.filter((text) => text !== "").join(BETWEEN_TEXTS);
  }

  async #find(id: string, owner: ResponseOwner): Promise<Row | undefined> {
    const row = toRow(await this.#ctx.kv.get(PREFIX + id));
    const isOurs = row !== undefined && row.owner === digestOf(id, owner) && this.#ctx.clock.now() - row.at < TTL_MS;
    return isOurs ? row : undefined;
  }

  #rows(): Promise<Map<string, number>> {
    this.#known ??= this.#ctx.kv.list(PREFIX).then(
      (rows) => new Map(rows.map(({ key, value }) => [key, toRow(value)?.at ?? 0] as const).sort(([, a], [, b]) => a - b)),
      (error: unknown) => {
        this.#known = undefined;
        throw error;
      },
    );
    return this.#known;
  }

  /** Removes the row, and the conversation with it where this was its last response and nobody else has used it. */
  async #forget(key: string): Promise<void> {
    const row = toRow(await this.#ctx.kv.get(key));
    await this.#ctx.kv.delete(key);
    if (!row) return;
    const { sessionKey, sessionId } = row;
    await this.#ctx.service("agents@1").forget({ runId: key.slice(PREFIX.length), sessionKey, sessionId });
  }

  #tidy(known: Map<string, number>, now: number): void {
    let left = MAX_DROPPED;
    for (const [key, at] of known) {
      if ((known.size <= MAX_ROWS && now - at < TTL_MS) || left-- === 0) return;
      known.delete(key);
      this.#forget(key).catch((error: unknown) => this.#ctx.logger.debug("an old response stays", { key, error: messageOf(error) }));
    }
  }
}

/** Text of an answer as its client saw it. */
function textOf(content: readonly MessageBlock[]): string {
  return stripFrames(content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""));
}

/** The id is the salt: it is new for each response. */
function digestOf(id: string, { caller, agentId, headerKey }: ResponseOwner): string {
  return createHash("sha256")
    .update(JSON.stringify([id, caller, agentId, headerKey]))
    .digest("base64url");
}

function toRow(value: unknown): Row | undefined {
  if (!isRecord(value)) return undefined;
  const { sessionKey, sessionId, owner, at, hasGiven } = value;
  const isRow = typeof sessionKey === "string" && typeof sessionId === "string" && typeof owner === "string" && typeof at === "number";
  return isRow ? { sessionKey, sessionId, owner, at, ...(hasGiven === true ? { hasGiven } : {}) } : undefined;
}
