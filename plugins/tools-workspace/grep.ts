import type { Worker } from "node:worker_threads";
import { isSvcError, messageOf, startWorker, type Tool, type ToolResult, workerUrl, z } from "svc/sdk";
import { globMatcher } from "./glob.ts";
import type { FileToMatch, Matched } from "./grep-match.ts";
import { type Found, MAX_FILES, MAX_HITS, searchPlace } from "./grep-walk.ts";
import type { Places } from "./place.ts";
import { orRefused, refused, texts } from "./result.ts";

const input = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe("Regular expression of JavaScript, tried on each line."),
  path: z.string().max(4_096).optional().describe("Folder or file below the workspace; default: the workspace."),
  glob: z.string().min(1).max(500).optional().describe("Only files that fit: `*.md`, `notes/**/*.txt`."),
  context: z.number().int().min(0).max(10).optional().describe("Lines around each hit, 0 to 10; default 0."),
});

/** A regular expression may run for ever: its thread is ended then. */
const LIMIT_MS = 10_000;
const MAX_THREADS = 4;
const MAX_HEAP_MB = 128;

/** `grep`: lines that fit a pattern. */
export function grepTool(places: Places): Tool<z.output<typeof input>> {
  return createGrepTool(places, { limitMs: LIMIT_MS });
}

export function createGrepTool(places: Places, { limitMs }: { limitMs: number }): Tool<z.output<typeof input>> {
  let threads = 0;
  return {
    name: "grep",
    description: "Searches the text files of the workspace for lines that fit a regular expression; at most 200 hits, with path and line.",
    input,
    readOnly: true,
    run: ({ pattern, path = ".", glob, context = 0 }, call) =>
      orRefused(async () => {
        const problem = faultOf(pattern);
        if (problem !== undefined) return refused(`pattern: ${problem}`);
        if (threads >= MAX_THREADS) return refused(`${MAX_THREADS} searches are running; try again when they have ended`);
        const place = await places.toRead(call.agentId, path);
        const fits = glob === undefined ? () => true : globMatcher(glob);
        threads += 1;
        try {
          return await search({ place, fits }, { pattern, context, limitMs, signal: call.signal });
        } finally {
          threads -= 1;
        }
      }),
  };
}

/** Compiled, not run. */
function faultOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Resolves with what was found until the search ended or took too long. */
async function search(
  what: Pick<Parameters<typeof searchPlace>[0], "place" | "fits">,
  { pattern, context, limitMs, signal }: { pattern: string; context: number; limitMs: number; signal: AbortSignal },
): Promise<ToolResult> {
  signal.throwIfAborted();
  const found: Found = { lines: [], hits: 0, files: 0, tooLarge: 0, isCut: false };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const thread = startWorker(workerUrl(import.meta.url, "./grep.worker"), {
    workerData: { source: pattern, context },
    name: "workspace-grep",
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  thread.on("error", () => undefined); // told to whoever waits for an answer
  try {
    await searchPlace({ ...what, found, signal: limit, match: (file) => answer(thread, file, limit) });
    return resultOf(found, { isEnded: false });
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted || isSvcError(error)) throw error;
    return resultOf(found, { isEnded: true });
  } finally {
    await thread.terminate();
  }
}

/** The thread's answer to one file. */
function answer(thread: Worker, file: FileToMatch, limit: AbortSignal): Promise<Matched> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      limit.removeEventListener("abort", stop);
      thread.removeListener("message", answered).removeListener("error", failed).removeListener("exit", gone);
      end();
    };
    const answered = (matched: Matched) => settle(() => resolve(matched));
    const failed = (error: unknown) => settle(() => reject(error));
    const gone = () => settle(() => reject(new Error("the thread of the search ended")));
    const stop = () => settle(() => reject(limit.reason));
    if (limit.aborted) return reject(limit.reason);
    limit.addEventListener("abort", stop);
    thread.on("message", answered).on("error", failed).on("exit", gone);
    thread.postMessage(file);
  });
}

function resultOf({ lines, hits, files, tooLarge, isCut }: Found, { isEnded }: { isEnded: boolean }): ToolResult {
  const notes = [
    ...(isEnded ? ["the search took too long and was ended; use a simpler pattern, a path or a glob"] : []),
    ...(hits === 0 && !isEnded ? [`nothing fits in ${files} files`] : []),
    ...(hits >= MAX_HITS ? [`there may be more: a search ends at ${MAX_HITS} hits`] : []),
    ...(isCut ? [`a search ends at ${MAX_FILES} files`] : []),
    ...(tooLarge > 0 ? [`${tooLarge} files of more than 4 MiB were left out`] : []),
  ];
  const result = texts([lines.join("\n"), notes.map((note) => `[${note}]`).join("\n")], { hits, files, isComplete: notes.length === 0 });
  return isEnded && hits === 0 ? { ...result, isError: true } : result;
}
