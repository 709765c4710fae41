import { isRecord } from "svc/sdk";
import { parseJson, type Tree } from "svc/sdk/internal";
import type { LeftOut } from "../plan/left-out.ts";
import { type NewMessage, toMessage } from "../plan/to-message.ts";
import { reasonOf, type SourceFolder } from "./folder.ts";

/** Bounds of one transcript: its file, one line of it, and its number of lines. */
const limits = { maxBytes: 1_000_000_000, maxLineBytes: 8_000_000 };
const MAX_LINES = 500_000;
/** Faulty lines that are listed one by one; the rest is a number. */
const MAX_LISTED = 5;

/** Lines of the branch that the conversation went on in. */
interface Branch {
  /** Lines to take, by number; undefined: all of them, the file has no branches. */
  lines: Set<number> | undefined;
  leftOut: LeftOut[];
}

/** Reads the transcript of a session, line by line; never more than one line of it is in memory beside the ids of its lines. */
export interface Transcript {
  readonly leftOut: readonly LeftOut[];
  /** Messages in order. May be called several times; each call reads the file again. */
  messages(sessionId: string): AsyncGenerator<NewMessage>;
}

/** @returns undefined, with the reason in `leftOut`, for a file that cannot be read */
export async function openTranscript(folder: SourceFolder, path: string, leftOut: LeftOut[]): Promise<Transcript | undefined> {
  try {
    const branch = await readBranch(folder, path);
    return { leftOut: branch.leftOut, messages: (sessionId) => readMessages(folder, path, { branch, sessionId }) };
  } catch (error) {
    leftOut.push({ path, reason: reasonOf(error) });
    return undefined;
  }
}

/** Lines of a tree name their parent; the last one is the end of the branch in use. Lines without ids are one after the other. */
async function readBranch(folder: SourceFolder, path: string): Promise<Branch> {
  const leftOut: LeftOut[] = [];
  const at = new Map<string, { line: number; parent: string | undefined }>();
  let [last, loose, count, faults]: [string | undefined, number[], number, number] = [undefined, [], 0, 0];
  for await (const { line, entry, fault } of entriesOf(folder, path)) {
    count += 1;
    if (count > MAX_LINES) throw new Error(`it has more than ${MAX_LINES} lines`);
    if (fault !== undefined) {
      faults += 1;
      if (faults <= MAX_LISTED) leftOut.push({ path: `${path}:${line}`, reason: fault });
      continue;
    }
    if (entry?.type === "session") continue;
    if (typeof entry?.id === "string") {
      at.set(entry.id, { line, parent: typeof entry.parentId === "string" ? entry.parentId : undefined });
      last = entry.id;
    } else loose.push(line);
  }
  if (faults > MAX_LISTED) leftOut.push({ path, reason: `${faults - MAX_LISTED} more lines cannot be read` });
  if (last === undefined || loose.length > 0) return { lines: undefined, leftOut };
  const lines = branchTo(last, at);
  // A line that names a parent which cannot be read: what is before it is still the conversation.
  if (faults > 0) return { lines: undefined, leftOut };
  const apart = at.size - lines.size;
  if (apart > 0) leftOut.push({ path, reason: `${apart} lines stand in branches that the conversation left` });
  return { lines, leftOut };
}

function branchTo(last: string, at: ReadonlyMap<string, { line: number; parent: string | undefined }>): Set<number> {
  const lines = new Set<number>();
  for (let id: string | undefined = last; id !== undefined; ) {
    const found = at.get(id);
    if (!found || lines.has(found.line)) break;
    lines.add(found.line);
    id = found.parent;
  }
  return lines;
}

async function* readMessages(
  folder: SourceFolder,
  path: string,
  { branch, sessionId }: { branch: Branch; sessionId: string },
): AsyncGenerator<NewMessage> {
  let ts = 0;
  const seen = new Set<string>();
  for await (const { line, entry } of entriesOf(folder, path)) {
    if (!entry || (branch.lines && !branch.lines.has(line))) continue;
    const message = toMessage(entry, { sessionId, at: line, ts });
    if (!message) continue;
    if (seen.has(message.id)) message.id = `line-${line}`;
    seen.add(message.id);
    ts = message.ts;
    yield message;
  }
}

/** A line as an object, or the reason why it is none. Empty lines are no lines. */
interface Entry {
  line: number;
  entry?: Tree;
  fault?: string;
}

async function* entriesOf(folder: SourceFolder, path: string): AsyncGenerator<Entry> {
  for await (const line of folder.lines(path, limits)) {
    if ("tooLong" in line) {
      yield { line: line.at, fault: `the line is longer than ${limits.maxLineBytes} bytes` };
      continue;
    }
    if (line.text.trim() === "") continue;
    yield { line: line.at, ...parseEntry(line.text) };
  }
}

function parseEntry(text: string): { entry: Tree } | { fault: string } {
  try {
    const value = parseJson(text);
    return isRecord(value) ? { entry: value } : { fault: "the line holds no object" };
  } catch {
    return { fault: "the line is not JSON" };
  }
}
