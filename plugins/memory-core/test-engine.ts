import { IndexEngine } from "./engine/engine.ts";
import type { RebuildStep } from "./engine/rebuild.ts";
import type { IndexSettings, ProviderFacts } from "./index-settings.ts";
import type { TestHost } from "./test-host.ts";
import type { SearchReply, SearchRequest, StatusReply, WorkerNews } from "./worker-protocol.ts";

/** Test index on this thread, with a provider, that can be opened again. */
export interface TestEngine {
  readonly engine: IndexEngine;
  news: WorkerNews[];
  /** Delays it wanted to wait, in ms. */
  waits: number[];
  /** Steps of rebuilds; throwing breaks one there. */
  step: (step: RebuildStep) => void;
  provide(facts: ProviderFacts | null, keepVectors?: boolean): Promise<unknown>;
  sync(options?: { force?: boolean; reason?: string }): Promise<unknown>;
  search(query: string, over?: Partial<SearchRequest>): Promise<SearchReply>;
  status(): Promise<StatusReply>;
  logs(): string[];
  /** Closes it and opens it again, maybe with other settings, and tells it who embeds. */
  reopen(facts?: ProviderFacts | null, over?: Partial<IndexSettings>): Promise<void>;
  close(): Promise<void>;
}

export const testRequest: SearchRequest = {
  query: "",
  maxResults: 6,
  minScore: 0,
  explicit: false,
  sources: ["memory"],
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
  timeoutMs: 10_000,
  syncAfter: "never",
};

export function createTestEngine(settings: IndexSettings, host: TestHost): TestEngine {
  const open = (over: Partial<IndexSettings> = {}) =>
    new IndexEngine({ ...settings, ...over }, (item) => void made.news.push(item), {
      host,
      step: (step) => made.step(step),
      wait(ms, signal) {
        made.waits.push(ms);
        return signal.aborted ? Promise.reject(signal.reason) : new Promise((resolve) => setImmediate(resolve));
      },
    });
  let engine: IndexEngine;
  const made: TestEngine = {
    get engine() {
      return engine;
    },
    news: [],
    waits: [],
    step: () => undefined,
    provide: (provider, keepVectors = false) => engine.setProvider({ provider, keepVectors }),
    sync: ({ force = false, reason = "test" } = {}) => engine.sync({ force, reason }),
    search: (query, over = {}) => engine.search({ ...testRequest, ...over, query }, () => undefined),
    status: () => engine.status(true),
    logs: () => made.news.flatMap((item) => (item.news === "log" ? [item.message] : [])),
    async reopen(facts, over) {
      await engine.close();
      engine = open(over);
      if (facts !== undefined) await made.provide(facts);
    },
    close: async () => void (await engine.close()),
  };
  engine = open();
  return made;
}
