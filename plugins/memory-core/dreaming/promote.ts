import { isSvcError, neutralize } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { dayOf } from "./days.ts";
import type { Candidate } from "./deep.ts";
import { type DreamState, saveState } from "./load-state.ts";
import { meanScore, type RecallEntry } from "./recall-entry.ts";
import { relocate, relocateLine } from "./relocate.ts";
import { groupSimilar, wordsOf } from "./similarity.ts";
import type { Snippet } from "./snippets.ts";
import { appendEvents, changeText, presentName, readText } from "./state-files.ts";

/** A statement that went into the long-term memory. */
export interface Promotion {
  key: string;
  score: number;
  text: string;
  /** `memory/2026-04-01.md:3-5` */
  source: string;
}

/** A candidate that was good enough and was not promoted. */
export interface Skipped {
  key: string;
  reason: string;
}

export interface PromotionContext {
  workspace: string;
  now: number;
  timeZone?: string | undefined;
  limit: number;
}

/** Notes that are read for it. */
const MAX_NOTE_BYTES = 512 * 1024;
const SAME_TEXT = 0.88;
/** A longer file is not searched for what it says already. */
const MAX_KNOWN_CHARS = 256 * 1024;

/**
 * Moves statements into the long-term memory: each is looked up in its note as it is now, appended with a marker and its evidence, and only then marked as promoted. A crash
 * in between is repeated without a second line, as the marker is found. Call it with the lock held.
 * @throws {SvcError} `unsafe-file` when the long-term memory cannot be written
 */
export async function promote(
  state: DreamState,
  candidates: readonly Candidate[],
  context: PromotionContext,
): Promise<{ applied: Promotion[]; skipped: Skipped[] }> {
  const { workspace, now, limit } = context;
  const skipped: Skipped[] = [];
  const found = await locate(candidates, { ...context, skipped });
  const groups = groupSimilar(found, { textOf: ({ live }) => live.text, threshold: SAME_TEXT, limit });
  for (const [kept, ...others] of groups)
    for (const { entry } of others) skipped.push({ key: entry.key, reason: `says the same as ${kept?.entry.key}` });
  const chosen = groups.map(([first]) => first as Located);
  if (chosen.length === 0) return { applied: [], skipped };
  await reached("dreaming.before-promote");
  const written = await append(chosen, context);
  await reached("dreaming.after-memory");
  const promotedAt = new Date(now).toISOString();
  for (const { entry, live } of chosen) {
    const { startLine, endLine } = live;
    state.recall.put({ ...entry, startLine, endLine, promotedAt });
    if (!written.has(entry.key)) skipped.push({ key: entry.key, reason: "stands in the long-term memory already" });
  }
  await saveState(workspace, state, now);
  await reached("dreaming.after-promoted");
  const applied = chosen
    .filter(({ entry }) => written.has(entry.key))
    .map(({ entry, score, live }) => ({ key: entry.key, score, text: live.text, source: sourceOf(entry, live) }));
  await appendEvents(
    workspace,
    applied.map(({ key, score, source }) => ({ type: "memory.promotion.applied", at: promotedAt, key, score: round(score), source })),
  );
  return { applied, skipped };
}

interface Located extends Candidate {
  live: Snippet;
}

async function locate(
  candidates: readonly Candidate[],
  { workspace, limit, skipped }: PromotionContext & { skipped: Skipped[] },
): Promise<Located[]> {
  const notes = new Map<string, string | undefined>();
  const found: Located[] = [];
  for (const candidate of candidates) {
    // Some of those that are found say the same.
    if (found.length >= 2 * limit) break;
    const { entry } = candidate;
    if (!notes.has(entry.path)) notes.set(entry.path, await noteText(workspace, entry.path));
    const live = liveSnippet(notes.get(entry.path), entry);
    if (!live) skipped.push({ key: entry.key, reason: `is no longer in ${entry.path}` });
    else if (live.isUntrusted)
      skipped.push({ key: entry.key, reason: "comes from a group or from outside; only a person moves it into long-term memory" });
    else found.push({ ...candidate, live });
  }
  return found;
}

/** A note that cannot be read holds nothing that may be promoted. */
async function noteText(workspace: string, path: string): Promise<string | undefined> {
  return readText(workspace, path.split("/"), MAX_NOTE_BYTES).catch((error: unknown) => {
    if (isSvcError(error, "unsafe-file")) return undefined;
    throw error;
  });
}

function liveSnippet(note: string | undefined, entry: RecallEntry): Snippet | undefined {
  if (note === undefined) return undefined;
  return entry.path.endsWith(".txt") ? relocateLine(note, entry) : relocate(note, entry);
}

/** @returns keys of what was added; the others stand there already */
async function append(chosen: readonly Located[], { workspace, now, timeZone }: PromotionContext): Promise<Set<string>> {
  const name = await presentName(workspace, ["MEMORY.md", "memory.md"]);
  const present = await readText(workspace, [name]);
  const day = dayOf(now, timeZone);
  let added = withPromotions(present, chosen, day);
  if (added.keys.length > 0)
    await changeText(workspace, [name], (before) => {
      added = withPromotions(before, chosen, day);
      return added.text;
    });
  return new Set(added.keys);
}

/** Long-term memory with the statements that it lacks, at its end below the heading of the day. Pure. */
export function withPromotions(before: string | undefined, chosen: readonly Located[], day: string): { text: string; keys: string[] } {
  const text = before === undefined || before.trim() === "" ? "# Long-Term Memory\n" : before;
  const known = text.length > MAX_KNOWN_CHARS ? "" : ` ${wordsOf(text).join(" ")} `;
  const fresh = chosen.filter(
    ({ entry, live }) => !text.includes(markerOf(entry.key)) && !known.includes(` ${wordsOf(live.text).join(" ")} `),
  );
  if (fresh.length === 0) return { text: before ?? "", keys: [] };
  const heading = `## Promoted From Short-Term Memory (${day})`;
  const lastHeading = text.split("\n").findLast((line) => /^#{1,2} /.test(line));
  const opening = lastHeading?.trim() === heading ? "" : `\n${heading}\n\n`;
  const rows = fresh.map((located) => `${markerOf(located.entry.key)}\n${lineOf(located)}\n`);
  return { text: `${text.endsWith("\n") ? text : `${text}\n`}${opening}${rows.join("")}`, keys: fresh.map(({ entry }) => entry.key) };
}

function markerOf(key: string): string {
  return `<!-- svc-memory-promotion:${key.replaceAll("--", "- -")} -->`;
}

function lineOf({ entry, live, score }: Located): string {
  const evidence = `score=${score.toFixed(3)} recalls=${entry.recallCount} avg=${meanScore(entry).toFixed(3)} source=${sourceOf(entry, live)}`;
  return `- ${neutralize(live.text).replace(/\s+/g, " ").trim()} [${evidence}]`;
}

function sourceOf({ path }: RecallEntry, { startLine, endLine }: Snippet): string {
  return `${path}:${startLine}-${endLine}`;
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
