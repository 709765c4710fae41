import type { MemoryBackend, MemoryHit, MemoryStatus } from "svc/sdk";
import { type MemoryBackendSubject, memoryBackendCases } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { failing, outcomeOf } from "./_mutants.ts";

/** A backend that searches lines by their words. */
function createLineBackend(files: ReadonlyMap<string, string>): MemoryBackend {
  let indexed = new Map<string, string>();
  let closed = false;
  const open = (signal?: AbortSignal) => {
    if (closed) throw new Error("the backend is closed");
    signal?.throwIfAborted();
  };
  return {
    id: "lines",
    async search(agentId, query, { maxResults = 6, minScore = 0, signal }) {
      open(signal);
      if (agentId !== "main") return [];
      const words = query.toLowerCase().split(/\s+/);
      const hits = [...indexed].map(([path, text]) => toHit(path, text, words)).filter((hit) => hit.score > 0 && hit.score >= minScore);
      return hits.sort((a, b) => b.score - a.score).slice(0, maxResults);
    },
    async get(_agentId, path, { from = 1, lines = Number.POSITIVE_INFINITY }) {
      open();
      const text = indexed.get(path);
      if (text === undefined) throw new Error(`no note ${path}`);
      return {
        path,
        text: text
          .split("\n")
          .slice(from - 1, from - 1 + lines)
          .join("\n"),
      };
    },
    async status(agentId) {
      open();
      return { agentId, backend: "lines", files: indexed.size } as MemoryStatus;
    },
    async sync() {
      open();
      indexed = new Map(files);
    },
    async close() {
      closed = true;
    },
  };
}

function toHit(path: string, text: string, words: string[]): MemoryHit {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)));
  const score = words.filter((word) => text.toLowerCase().includes(word)).length / words.length / (1 + text.length / 10_000);
  return { path, startLine: at + 1, endLine: lines.length - 1, score: at === -1 ? 0 : score, snippet: text, source: "memory" };
}

function subject(change: (own: MemoryBackend) => Partial<MemoryBackend> = () => ({})): () => Promise<MemoryBackendSubject> {
  return async () => {
    const files = new Map<string, string>();
    const own = createLineBackend(files);
    return {
      backend: { ...own, ...change(own) },
      agentId: "main",
      write: async (path, text) => void files.set(path, text),
      remove: async (path) => void files.delete(path),
    };
  };
}

const hits = (change: (hit: MemoryHit) => MemoryHit) =>
  subject((own) => ({ search: async (agentId, query, o) => (await own.search(agentId, query, o)).map(change) }));

test("a backend that keeps the contract passes every case", async () => {
  expect(await failing(memoryBackendCases(subject()))).toEqual([]);
});

const found = "a note is found after a sync, with its lines and a score in [0, 1]";
const changes = "a changed and a removed note are noticed by the next sync";

test.each<[string, () => Promise<MemoryBackendSubject>, string]>([
  [
    "finds what is not there",
    subject(() => ({ search: async () => [toHit("memory/ghost.md", "boo", ["boo"])] })),
    "nothing is found where nothing is",
  ],
  ["counts lines from zero", hits((hit) => ({ ...hit, startLine: 0 })), found],
  ["scores in percent", hits((hit) => ({ ...hit, score: hit.score * 100 })), found],
  ["shows no text", hits((hit) => ({ ...hit, snippet: "" })), found],
  [
    "gives as many as it likes",
    subject((own) => ({ search: (a, q, o) => own.search(a, q, { ...o, maxResults: 99 }) })),
    "maxResults and minScore hold",
  ],
  [
    "gives the worst too",
    subject((own) => ({ search: (a, q, o) => own.search(a, q, { ...o, minScore: 0 }) })),
    "maxResults and minScore hold",
  ],
  [
    "gives the worst first",
    subject((own) => ({ search: async (a, q, o) => (await own.search(a, q, o)).reverse() })),
    "hits come best first",
  ],
  ["syncs once", syncsOnce(), changes],
  ["reads whole notes only", subject((own) => ({ get: (a, p) => own.get(a, p, {}) })), "get reads a note, and lines of it"],
  ["reads any file", subject(() => ({ get: async (_a, path) => ({ path, text: "" }) })), "get refuses what is not a note"],
  [
    "counts nothing",
    subject((own) => ({ status: async (a) => ({ ...(await own.status(a)), files: 0 }) })),
    "status counts what was synced",
  ],
  [
    "does not hear an abort",
    subject((own) => ({ search: (a, q, { signal: _, ...o }) => own.search(a, q, o) })),
    "an aborted search rejects within a second",
  ],
  [
    "shows everybody everything",
    subject((own) => ({ search: (_a, q, o) => own.search("main", q, o) })),
    "another agent's notes stay its own",
  ],
  [
    "answers when it is closed",
    subject(() => ({ close: async () => undefined })),
    "it may be closed twice, and answers nothing afterwards",
  ],
])("a backend that %s fails the case that says so", async (_name, create, expected) => {
  expect(await outcomeOf(memoryBackendCases(create), expected)).toEqual(expect.any(String));
});

function syncsOnce(): () => Promise<MemoryBackendSubject> {
  return subject((own) => {
    let synced = false;
    return {
      async sync(agentId) {
        if (!synced) await own.sync(agentId);
        synced = true;
      },
    };
  });
}
