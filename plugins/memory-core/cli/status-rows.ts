import type { MemoryStatus } from "svc/sdk";

/** The rows of `svc memory status` about one agent, without colour: name and value. Pure. */
export function statusRows(status: MemoryStatus): Array<[name: string, value: string]> {
  const { cache, batch, fallback, probe, lastSyncAt } = status;
  const rows: Array<[string, string | undefined]> = [
    ["Search", searchMode(status)],
    ["Provider", provider(status)],
    ["Fallback", fallback && `is used instead of ${fallback.from}: ${fallback.reason}`],
    ["Probe", probe && (probe.ok ? answered(probe) : `failed after ${probe.ms} ms: ${probe.error ?? "unknown reason"}`)],
    ["Index", `${count(status.files, "file")}, ${count(status.chunks, "chunk")}; ${freshness(status)}`],
    ["Sources", sources(status)],
    ...leftOutRows(status.leftOut),
    ["Words", status.fts.available ? undefined : `not searched: ${status.fts.error ?? "unknown reason"}`],
    ["Vectors", vectors(status)],
    [
      "Cache",
      cache.enabled || cache.entries > 0
        ? `${cache.enabled ? "on" : "off"}, ${cache.entries} of ${cache.maxEntries} embeddings`
        : undefined,
    ],
    ["Batch", batch.enabled ? batchState(batch) : undefined],
    ["Workspace", status.workspace],
    ["Database", status.dbPath],
    ["Last sync", lastSyncAt === undefined ? undefined : new Date(lastSyncAt).toLocaleString("sv-SE")],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

/** Documents with a row of their own; `--json` has 100. */
const MAX_LEFT_OUT = 10;

/** Names what is not in the index, and why. Pure. */
export function leftOutRows(leftOut: MemoryStatus["leftOut"]): Array<[name: string, value: string]> {
  if (!leftOut) return [];
  const named = leftOut.documents.slice(0, MAX_LEFT_OUT).map(({ path, reason }): [string, string] => ["Left out", `${path}: ${reason}`]);
  const more = leftOut.total - named.length;
  return more > 0 ? [...named, ["Left out", count(more, "more file")]] : named;
}

/** Rows for the reasons why detection found no embedding provider; reasons shared by several agents appear once. Pure. */
export function skippedRows(all: readonly MemoryStatus[]): Array<[provider: string, reason: string]> {
  const seen = new Set<string>();
  return all
    .flatMap(({ skipped = [] }) => skipped)
    .map(({ provider: id, reason }): [string, string] => [id, reason.replace(`embedding adapter "${id}": `, "")])
    .filter((row) => !seen.has(row.join("\n")) && seen.add(row.join("\n")));
}

function searchMode({ backend, custom, requestedProvider, provider: id }: MemoryStatus): string {
  if (backend !== "builtin") return `by the backend ${backend}, mode ${custom.searchMode}`;
  if (custom.searchMode === "hybrid") return "words and vectors";
  if (custom.searchMode === "vector") return "vectors only";
  if (id !== "none") return "keywords only for now";
  return requestedProvider === "none" ? "keywords only" : "keywords only (no embedding provider is set up; see svc memory status --deep)";
}

function provider({ backend, provider: id, model, requestedProvider, providerError }: MemoryStatus): string | undefined {
  if (backend !== "builtin") return undefined;
  const how = requestedProvider === "auto" ? " (auto-detected)" : "";
  const named = id === "none" ? undefined : `${id}${how}, ${model}`;
  // The row above says that nobody embeds.
  if (providerError === undefined || (id === "none" && requestedProvider === "auto")) return named;
  return named === undefined ? `none: ${providerError}` : `${named}; last answer: ${providerError}`;
}

function answered({ ms, dims }: NonNullable<MemoryStatus["probe"]>): string {
  return `answered in ${ms} ms${dims === undefined ? "" : ` with ${dims} dimensions`}`;
}

function sources({ sources: wanted, sourceCounts }: MemoryStatus): string | undefined {
  if (wanted.length < 2 && sourceCounts.length < 2) return undefined;
  const of = (source: string) => sourceCounts.find((one) => one.source === source) ?? { files: 0, chunks: 0 };
  return wanted.map((source) => `${source} ${count(of(source).files, "file")}, ${count(of(source).chunks, "chunk")}`).join("; ");
}

function vectors({ vector, custom }: MemoryStatus): string | undefined {
  if (custom.searchMode === "fts-only" && vector.dims === undefined) return undefined;
  const dims = vector.dims === undefined ? "none yet" : `${vector.dims} dimensions`;
  if (!vector.enabled) return `${dims}, compared in the process (store.vector.enabled is false)`;
  if (vector.available) return `${dims}, ${vector.backend}`;
  return `${dims}, compared in the process: ${vector.loadError ?? "the extension is not loaded yet"}`;
}

function batchState({ failures, limit, lastError }: MemoryStatus["batch"]): string {
  const state = failures >= limit ? "off after failures" : "on";
  return `${state}, ${failures} of ${limit} failures${lastError === undefined ? "" : `; last: ${lastError}`}`;
}

function freshness({ syncing, dirty, lastSyncAt }: MemoryStatus): string {
  if (syncing) return "a sync is running";
  if (lastSyncAt === undefined) return "not compared with the files yet";
  return dirty ? "notes have changed since the last sync" : "up to date";
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
