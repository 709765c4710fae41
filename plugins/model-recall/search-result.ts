import { type MemoryHit, oneLine, stripFrames, z } from "svc/sdk";

const MAX_REASON_CHARS = 200;

/** Result of the search, as far as the answer needs it. */
export type Search =
  | { kind: "no-tool" }
  | { kind: "failed"; reason: string; action?: string }
  | { kind: "found"; hits: Hit[]; keywordsOnly: boolean; partial: boolean };

export type Hit = Pick<MemoryHit, "path" | "startLine" | "endLine" | "score" | "snippet"> & { citation?: string | undefined };

/** The parts of `MemorySearchResult` that matter here. */
const resultSchema = z.looseObject({
  results: z.array(
    z.looseObject({
      path: z.string(),
      startLine: z.number(),
      endLine: z.number(),
      score: z.number(),
      snippet: z.string(),
      citation: z.string().optional(),
    }),
  ),
  mode: z.string().optional(),
  partial: z.boolean().optional(),
  disabled: z.boolean().optional(),
  unavailable: z.boolean().optional(),
  error: z.string().optional(),
  warning: z.string().optional(),
  action: z.string().optional(),
});

/** Reads the text of a `memory_search` tool message; anything but its JSON counts as a failed search. */
export function readSearchResult(text: string, isError: boolean): Search {
  if (isError) return { kind: "failed", reason: oneLine(text, MAX_REASON_CHARS) };
  // A text that others may have written comes framed; quotes of it are shown as such by their citation.
  const parsed = resultSchema.safeParse(parseJson(stripFrames(text)));
  if (!parsed.success) return { kind: "failed", reason: "the search gave an answer that could not be read" };
  const { results, ...about } = parsed.data;
  if (results.length === 0 && (about.disabled || about.unavailable || about.error)) {
    const action = about.action ? { action: oneLine(about.action, MAX_REASON_CHARS) } : {};
    return { kind: "failed", reason: oneLine(about.error ?? about.warning ?? "it is switched off", MAX_REASON_CHARS), ...action };
  }
  return { kind: "found", hits: results, keywordsOnly: about.mode === "fts-only", partial: about.partial === true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
