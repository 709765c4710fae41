import type { IndexSettings, ProviderFacts } from "../index-settings.ts";
import type { SearchReply, SearchRequest, WorkerNews } from "../worker-protocol.ts";
import { isCorrupt } from "./database.ts";
import type { DocumentGuard } from "./document-guard.ts";
import { IndexFault, reasonOf } from "./fault.ts";
import type { Host } from "./host.ts";
import { hybridSearch, type VectorSide } from "./hybrid-search.ts";
import { isKeywordOnly, isOfProvider } from "./identity.ts";
import type { LiveIndex, OpenLiveIndex } from "./live-index.ts";
import { createPacer } from "./pacer.ts";
import { within } from "./query-embedding.ts";
import type { SyncScheduler } from "./sync-scheduler.ts";
import { scanTexts } from "./text-scan.ts";

export interface SearcherParts {
  settings: IndexSettings;
  live: LiveIndex;
  scheduler: Pick<SyncScheduler, "sync" | "provider" | "choice" | "abandonDamaged">;
  host: Host;
  guard: DocumentGuard;
  tell(news: WorkerNews): void;
}

/** Answers questions, from the index or, while there is none, from the files. */
export interface Searcher {
  search(request: SearchRequest, interim: (reply: SearchReply) => void): Promise<SearchReply>;
  /** Notes why nothing can be embedded at present, for people. */
  noteAbsence(reason: string | undefined): void;
  close(): void;
}

/** The answer leaves this much before the time is up, at most a tenth of it, so that it arrives in time and can say what it lacks. */
const REPLY_MARGIN_MS = 50;
/** Time a search waits for an empty index to be filled before it reads the files itself. */
const FILL_WAIT_MS = 1_000;
const FILES_SEARCHED = "the files themselves were searched for the words";

export function createSearcher(parts: SearcherParts): Searcher {
  const stop = new AbortController();
  let absence: string | undefined;
  return {
    noteAbsence(reason) {
      absence = reason;
    },
    close: () => stop.abort(),
    async search(request, interim) {
      const { timeoutMs } = request;
      const deadlineMs = performance.now() + timeoutMs - Math.min(REPLY_MARGIN_MS, timeoutMs / 10);
      const search: OpenSearch = { request, deadlineMs, interim, absence, signal: stop.signal };
      try {
        return await searchLive(parts, search);
      } catch (error) {
        if (error instanceof IndexFault) throw error;
        if (isCorrupt(error)) parts.scheduler.abandonDamaged();
        const damage = isCorrupt(error) ? "the index is damaged and is being rebuilt" : `the index cannot be read (${reasonOf(error)})`;
        return scan(parts, search, damage);
      }
    },
  };
}

interface OpenSearch {
  request: SearchRequest;
  deadlineMs: number;
  interim(reply: SearchReply): void;
  absence: string | undefined;
  signal: AbortSignal;
}

async function searchLive(parts: SearcherParts, search: OpenSearch): Promise<SearchReply> {
  const { live, host } = parts;
  live.use();
  if (live.counts().chunks === 0 && !(await fill(parts, search))) return scan(parts, search, "the index is being made");
  const open = live.use();
  if (!open) return { hits: [], partial: false, mode: "fts-only" };
  const embedQuery = (text: string, signal: AbortSignal) =>
    host.call("embedQuery", { text }, { timeoutMs: Math.max(1, search.deadlineMs - performance.now()), signal });
  const side = vectorSide(parts, open, search.absence);
  const asker = parts.scheduler.provider()?.facts;
  const reply = await hybridSearch(
    {
      open: () => {
        const now = live.use();
        return now && { ...now, chunks: live.counts().chunks };
      },
      vectors: side.kind === "ready" ? { kind: "ready", embedQuery, mismatch: () => mismatch(parts, asker) } : side,
      deadlineMs: search.deadlineMs,
      now: Date.now,
      interim: search.interim,
    },
    search.request,
  );
  if (reply.mode === "fts-only" || !asker) return reply;
  return { ...reply, embedder: { provider: asker.id, model: asker.model } };
}

type Side = { kind: "ready" } | Exclude<VectorSide, { kind: "ready" }>;

function vectorSide({ scheduler }: SearcherParts, { identity }: OpenLiveIndex, absence: string | undefined): Side {
  const provider = scheduler.provider()?.facts;
  if (!provider) {
    if (scheduler.choice() === "none" || isKeywordOnly(identity)) return { kind: "off" };
    return {
      kind: "absent",
      reason: absence ?? `there is no embedding provider at present, and the index has vectors of ${identity.provider}`,
    };
  }
  if (isOfProvider(identity, provider)) return { kind: "ready" };
  const had = isKeywordOnly(identity) ? "no vectors yet" : `vectors of ${identity.provider}/${identity.model}`;
  return { kind: "absent", reason: `the index has ${had} and is being rebuilt for ${provider.id}/${provider.model}` };
}

/** The main thread tells of another provider before it embeds with it, so who is known here when a vector has come made it, or nobody does any more. */
function mismatch({ live, scheduler }: SearcherParts, asker: ProviderFacts | undefined): string | undefined {
  const now = scheduler.provider()?.facts;
  const open = live.opened();
  const isSame = asker !== undefined && (now === undefined || now === asker) && open !== undefined && isOfProvider(open.identity, asker);
  return isSame ? undefined : "the embedding provider changed meanwhile";
}

/** Fills an index without a chunk; false when that takes too long or fails. */
async function fill({ scheduler, tell }: SearcherParts, { deadlineMs }: OpenSearch): Promise<boolean> {
  const done = scheduler.sync({ force: false, reason: "search-empty" }).then(
    () => true,
    (error) => {
      tell({ news: "log", level: "warn", message: `the memory index is empty and could not be filled: ${reasonOf(error)}` });
      return false;
    },
  );
  const waitMs = Math.min(FILL_WAIT_MS, (deadlineMs - performance.now()) / 4);
  return within(done, performance.now() + waitMs, false);
}

async function scan({ settings, guard }: SearcherParts, { request, deadlineMs, signal }: OpenSearch, why: string): Promise<SearchReply> {
  const { hits, isComplete } = await scanTexts({ settings, pacer: createPacer(signal), guard, deadlineMs }, request);
  return { hits, partial: !isComplete, mode: "fts-only", degraded: `${why}; ${FILES_SEARCHED}` };
}
