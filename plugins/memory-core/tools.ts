import { type HookEvent, type Memory, type MemorySearchResult, type Tool, z } from "svc/sdk";
import { recalled } from "./provenance.ts";

const searchInput = z.object({
  query: z.string().describe("The search query: keywords or a question."),
  maxResults: z.number().optional().describe("Most results to return, 1 to 200."),
  minScore: z.number().optional().describe("Lowest score to return, 0 to 1."),
  corpus: z.enum(["memory", "sessions", "all"]).optional().describe("Notes, session transcripts, or both."),
});

const getInput = z.object({
  path: z.string().describe("Path as memory_search returned it."),
  from: z.number().int().min(1).optional().describe("First line, from 1."),
  lines: z.number().int().min(1).optional().describe("How many lines."),
});

/** Callbacks around the searches of agents. */
export interface SearchTaps {
  /** Awaited before a search: what the agent has just written is to be found. */
  before?(agentId: string, signal: AbortSignal): Promise<void>;
  /** Called with what was found; nobody waits for it. */
  after?(agentId: string, search: { query: string; hits: MemorySearchResult["results"] }): void;
}

/** `memory_search`: passages of the agent's notes. */
export function memorySearchTool(memory: Memory, { before, after }: SearchTaps = {}): Tool<z.output<typeof searchInput>> {
  return {
    name: "memory_search",
    description:
      "Searches the agent's memory: MEMORY.md and the notes below memory/. Use it before answering any question about earlier work, " +
      "decisions, dates, people, preferences or todos. Returns passages with path, lines and score; read more of one with memory_get. " +
      "When the result says that memory is unavailable, say so instead of guessing.",
    input: searchInput,
    readOnly: true,
    async run({ query, ...options }, { agentId, sessionKey, signal }) {
      // A model that asks for nothing gets nothing; it is no fault worth an error turn.
      if (query.trim() === "") return { results: [] };
      await before?.(agentId, signal);
      const found = await memory.search(agentId, query, { ...defined(options), sessionKey, signal });
      after?.(agentId, { query, hits: found.results });
      const texts = found.results.map(({ snippet: text, source }) => ({ text, source }));
      return recalled(found, texts);
    },
  };
}

/** `memory_get`: a memory file, or lines of it. */
export function memoryGetTool(memory: Memory): Tool<z.output<typeof getInput>> {
  return {
    name: "memory_get",
    description:
      "Reads a memory file or some of its lines, by the path of a memory_search result. Only MEMORY.md, DREAMS.md, files below memory/ " +
      "and configured extra paths can be read. A missing file has an empty text.",
    input: getInput,
    readOnly: true,
    async run({ path, ...range }, call) {
      const found = await memory.get(call.agentId, path, defined(range));
      const { text, truncated, disabled, error } = found;
      return recalled({ path, text, ...defined({ truncated, disabled, error }) }, [{ text }]);
    },
  };
}

const names = ["memory_search", "memory_get", "memory_append"];

/** Removes the memory tools for agents whose memory is off. */
export function withoutMemoryTools(event: HookEvent<"prompt.build">): HookEvent<"prompt.build"> {
  return { ...event, tools: event.tools.filter((name) => !names.includes(name)) };
}

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
