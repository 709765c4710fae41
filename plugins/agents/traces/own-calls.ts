import { isRecord, type MessageRow } from "svc/sdk";
import { callsOf } from "../runs/transcript.ts";
import type { StoredToolUse, StoredTrace } from "./stored-trace.ts";

/** One call of a tool with its result, from the transcript, and with what the trace knows of it. */
export interface OwnCall {
  id: string;
  name: string;
  args: unknown;
  result?: MessageRow;
  use?: StoredToolUse;
}

/** A passage that a tool of the memory gave. */
export interface Source {
  path: string;
  startLine?: number;
  endLine?: number;
  score?: number;
  tool: string;
}

const MAX_SOURCES = 200;

/** Calls of a run in the order in which the model made them. Ids may come again in each turn, so the next free result and use are meant. */
export function callsOfRun(trace: Pick<StoredTrace, "tools">, own: readonly MessageRow[]): OwnCall[] {
  const results = queues(
    own.flatMap((row) => (row.role === "toolResult" && row.toolCallId !== undefined ? [[row.toolCallId, row] as const] : [])),
  );
  const uses = queues([...trace.tools].sort((a, b) => a.turn - b.turn).map((use) => [use.id, use] as const));
  const calls = own.filter(({ role }) => role === "assistant").flatMap(({ content }) => callsOf(content));
  const made = calls.map(({ id, name, args }): OwnCall => {
    const [result, use] = [results.get(id)?.shift(), uses.get(id)?.shift()];
    return { id, name, args, ...(result ? { result } : {}), ...(use ? { use } : {}) };
  });
  // Of a transcript that is gone the trace still knows the names.
  const rest = [...uses.values()].flat().map((use): OwnCall => ({ id: use.id, name: use.name, args: undefined, use }));
  return [...made, ...rest];
}

function queues<T>(pairs: ReadonlyArray<readonly [string, T]>): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const [id, value] of pairs) {
    const queue = out.get(id);
    if (queue) queue.push(value);
    else out.set(id, [value]);
  }
  return out;
}

/** Passages that the calls brought, each once, in order. */
export function sourcesOf(calls: readonly OwnCall[]): Source[] {
  const found = new Map<string, Source>();
  for (const { name, result } of calls) {
    if (!name.startsWith("memory_") || !isRecord(result?.details)) continue;
    const { details } = result;
    const hits = Array.isArray(details.results) ? details.results : name === "memory_get" ? [details] : [];
    for (const hit of hits) {
      const source = sourceOf(hit, name);
      if (source && found.size < MAX_SOURCES) found.set(`${source.path}#${source.startLine}-${source.endLine}`, source);
    }
  }
  return [...found.values()];
}

function sourceOf(hit: unknown, tool: string): Source | undefined {
  if (!isRecord(hit) || typeof hit.path !== "string") return undefined;
  const numbers = (["startLine", "endLine", "score"] as const).flatMap((name) =>
    typeof hit[name] === "number" ? [[name, hit[name]]] : [],
  );
  return { path: hit.path, ...Object.fromEntries(numbers), tool };
}
