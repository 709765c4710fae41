import type { EmbeddingFault } from "svc/sdk";
import { EmbedFault, type Host } from "./engine/host.ts";
import type { ProviderFacts } from "./index-settings.ts";
import { unpackTexts } from "./packed-texts.ts";
import type { HostMethod, HostMethods } from "./worker-protocol.ts";

/** Test double of the main thread as an index sees it, with a provider whose vectors come from the words of a text. */
export interface TestHost extends Host {
  /** Length of its vectors. */
  dims: number;
  /** Groups of texts as they were asked for. */
  groups: string[][];
  /** All calls, by method. */
  calls: HostMethod[];
  /** Answers instead of the provider; `undefined` lets it answer. */
  embed: (texts: string[], nth: number) => Promise<Float32Array[] | undefined> | Float32Array[] | undefined;
  media: (input: { text: string; mime: string; data: Uint8Array }) => Promise<Float32Array[]> | Float32Array[];
  jobs: Map<string, { texts: string[]; tag: string; state: HostMethods["batchPoll"]["reply"]; ended: boolean; cancelled: boolean }>;
  /** State in which jobs begin. */
  jobState: (nth: number) => HostMethods["batchPoll"]["reply"];
  results: (texts: string[]) => Array<Float32Array | string>;
  submit: () => void;
}

export const TEST_DIMS = 64;

export function testFacts(over: Partial<ProviderFacts> = {}): ProviderFacts {
  return {
    id: "test",
    model: "words",
    providerKey: "key-1",
    pace: "remote",
    dims: TEST_DIMS,
    multimodal: false,
    batch: false,
    ...over,
  };
}

/** A direction for each word, so texts that share words are near each other. */
export function wordVector(text: string, dims: number = TEST_DIMS): Float32Array {
  const vector = new Float32Array(dims);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 2166136261;
    for (const char of word) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619) >>> 0;
    vector[hash % dims] = (vector[hash % dims] ?? 0) + 1;
  }
  const norm = Math.hypot(...vector);
  return norm === 0 ? vector : vector.map((value) => value / norm);
}

export function embedFault(fault: EmbeddingFault, message: string = fault, retryAfterMs?: number): EmbedFault {
  return new EmbedFault(fault, message, retryAfterMs);
}

export function createTestHost(): TestHost {
  const answer = (texts: string[]) => texts.map((text) => wordVector(text, host.dims));
  const handlers: { [M in HostMethod]: (params: HostMethods[M]["params"]) => unknown } = {
    embedQuery: ({ text }) => wordVector(text, host.dims),
    async embed({ texts }) {
      host.groups.push(texts);
      return (await host.embed(texts, host.groups.length)) ?? answer(texts);
    },
    embedMedia: ({ inputs }) => Promise.all(inputs.map(async (input) => (await host.media(input))[0])),
    async batchSubmit({ texts: packed, tag }) {
      host.submit();
      const texts = await unpackTexts(packed, new AbortController().signal);
      const job = `job-${host.jobs.size + 1}`;
      host.jobs.set(job, { texts, tag, state: host.jobState(host.jobs.size + 1), ended: false, cancelled: false });
      return { job };
    },
    batchPoll: ({ job }) => host.jobs.get(job)?.state ?? { state: "failed", message: "no such job" },
    batchResults: ({ job }) => host.results(host.jobs.get(job)?.texts ?? []),
    batchEnd({ job, cancel }) {
      const known = host.jobs.get(job);
      if (known) Object.assign(known, { ended: true, cancelled: cancel });
      return { ended: true };
    },
    listSessions: () => [],
    readSession: () => undefined,
  };
  const host: TestHost = {
    dims: TEST_DIMS,
    groups: [],
    calls: [],
    embed: () => undefined,
    media: (input) => [wordVector(input.text, host.dims)],
    jobs: new Map(),
    jobState: () => ({ state: "done" }),
    results: answer,
    submit: () => undefined,
    async call(method, params, { signal }) {
      await Promise.resolve();
      signal?.throwIfAborted();
      host.calls.push(method);
      return (await handlers[method](params as never)) as HostMethods[typeof method]["reply"];
    },
  };
  return host;
}
