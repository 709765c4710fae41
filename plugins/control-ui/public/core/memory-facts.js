import { texts } from "../texts/memory.js";
import { count, decimal, list, plural, span } from "./format.js";

/**
 * Facts shown about an agent's memory. Pure.
 *
 * @typedef {{ agentId?: string, backend?: string, workspace?: string, files?: number, chunks?: number, dirty?: boolean, syncing?: boolean,
 *   provider?: string, model?: string, requestedProvider?: string, custom?: { searchMode?: string }, lastSyncAt?: number, lastError?: string,
 *   sourceCounts?: Array<{ source: string, files: number, chunks: number }>,
 *   fts?: { enabled?: boolean, available?: boolean, error?: string },
 *   vector?: { enabled?: boolean, available?: boolean, backend?: string, loadError?: string, dims?: number },
 *   fallback?: { from: string, reason: string }, providerError?: string,
 *   probe?: { ok: boolean, ms: number, dims?: number, error?: string },
 *   leftOut?: { documents: Array<{ path: string, reason: string }>, total: number },
 *   fileList?: MemoryFile[], truncated?: boolean }} MemoryStatus
 * @typedef {{ path: string, source?: string, chunks?: number, mtime: number }} MemoryFile
 * @typedef {{ path: string, startLine: number, endLine: number, score: number, vectorScore?: number, textScore?: number, snippet: string,
 *   source?: string }} Hit
 * @typedef {{ id: string, level: "warn" | "bad" | "info", text: string, why: string, fix?: string, command?: string }} Trouble
 * @typedef {{ phase: string, done: number, total: number, error?: string, startedAt: number, startedDone: number }} Progress
 * @typedef {{ enabled: boolean, frequency: string, timezone?: string, job: { state: string, nextRunAt?: number, problem?: string },
 *   workspaces: Array<{ running: boolean, entries: number, promoted: number, diary: string, problem?: string,
 *     lastSweep?: { at: number, staged: number, promoted: number, diary: string, problem?: string } }> }} Dreaming
 */

const modes = /** @type {Record<string, string>} */ ({
  hybrid: texts.searchMeaningWords,
  vector: texts.searchMeaning,
  "fts-only": texts.searchWords,
});

/** Sentence about how an agent's memory is searched and how much it holds. @param {MemoryStatus} status */
export function sentenceOf(status) {
  const { files = 0, chunks = 0, provider, model } = status;
  const mode = modes[status.custom?.searchMode ?? ""] ?? texts.searchWords;
  const by = provider && provider !== "none" ? texts.searchedBy({ mode, by: model ? list([provider, model]) : provider }) : mode;
  const sessions = status.sourceCounts?.find(({ source }) => source === "sessions")?.files ?? 0;
  const held = [
    plural(files - sessions, texts.files),
    ...(sessions === 0 ? [] : [plural(sessions, texts.conversations)]),
    plural(chunks, texts.passages),
  ];
  return texts.searchHolds({ mode: by, held: list(held) });
}

/**
 * Sentences about dreaming: how it stands, what the last sweep brought, and what is wrong. None while it is off and was never used.
 * @param {Dreaming} dreaming @param {(at: number) => string} moment @returns {{ state: string, last?: string, problem?: string } | undefined}
 */
export function dreamingWords({ enabled, job, workspaces }, moment) {
  const [place] = workspaces;
  const last = place?.lastSweep;
  if (!enabled && !last) return undefined;
  const next = job.nextRunAt === undefined ? "" : texts.nextSweep(moment(job.nextRunAt));
  const state = enabled ? texts.dreamingOn(next) : texts.dreamingOff;
  const found =
    last && texts.lastSweepStaged({ at: moment(last.at), staged: plural(last.staged, texts.statements), promoted: count(last.promoted) });
  const problem = job.problem ?? place?.problem ?? last?.problem;
  return { state: place?.running ? texts.isSweepRunning : state, ...(found ? { last: found } : {}), ...(problem ? { problem } : {}) };
}

/** Problems that keep the search from working as configured. @param {MemoryStatus} status @returns {Trouble[]} */
export function troublesOf(status) {
  const { provider = "none", requestedProvider, providerError, fallback, vector, fts, lastError, leftOut } = status;
  /** @type {Trouble[]} */
  const troubles = [];
  const isChoice = requestedProvider === "none";
  if (fallback) {
    troubles.push({
      id: "fallback",
      level: "warn",
      text: texts.doesNotAnswer({ from: fallback.from, provider }),
      why: fallback.reason,
    });
  } else if (providerError && !isChoice) {
    const isOff = provider === "none" || status.custom?.searchMode === "fts-only";
    const text = isOff ? texts.meaningOffOnly : texts.embeddingProviderDoes;
    const fix = provider === "none" ? texts.setKeyProvider : undefined;
    troubles.push({
      id: "provider",
      level: "warn",
      text,
      why: providerError,
      ...(fix ? { fix } : {}),
      command: "svc memory status --deep",
    });
  }
  if (fts?.available === false && fts.error && fts.error !== lastError) {
    troubles.push({ id: "words", level: "warn", text: texts.keywordSearchOff, why: fts.error, command: "svc doctor" });
  }
  if (lastError && lastError !== providerError) {
    troubles.push({ id: "sync", level: "bad", text: texts.indexNotUp, why: lastError, command: "svc memory status" });
  }
  if (leftOut) {
    const [first] = leftOut.documents;
    troubles.push({
      id: "left-out",
      level: "warn",
      text: plural(leftOut.total, texts.filesLeftOut),
      why: `${first?.path}: ${first?.reason}`,
      command: "svc memory status",
    });
  }
  if (vector?.enabled !== false && vector?.loadError) {
    troubles.push({ id: "vector", level: "info", text: texts.vectorSearchRuns, why: vector.loadError });
  }
  return troubles;
}

const phases = /** @type {Record<string, string>} */ ({
  scan: texts.lookingChanges,
  embed: texts.embedding,
  write: texts.writing,
  swap: texts.puttingNewIndex,
});

/** A progress event after the ones before it: when its phase began is what an estimate is made from. @param {Progress | undefined} before */
export function withProgress(
  before,
  /** @type {{ phase: string, done: number, total: number, error?: string }} */ event,
  /** @type {number} */ now,
) {
  const goesOn = before?.phase === event.phase && event.done >= before.done;
  return { ...event, startedAt: goesOn ? before.startedAt : now, startedDone: goesOn ? before.startedDone : event.done };
}

/** Words beside the bar: "Embedding 1,204 of 1,902, about 40 s". @param {Progress} progress @param {number} now */
export function progressWords({ phase, done, total, startedAt, startedDone }, now) {
  const word = phases[phase] ?? phase;
  if (total === 0) return word;
  const seconds = (now - startedAt) / 1_000;
  const made = done - startedDone;
  // A second of it says nothing yet.
  const left = made > 0 && seconds >= 2 ? (seconds / made) * (total - done) : undefined;
  return texts.progress({
    word,
    done: count(done),
    total: count(total),
    left: left === undefined || left < 1 ? "" : texts.about(span(left * 1_000)),
  });
}

/** True while there is something to wait for. @param {Progress | undefined} progress */
export function isWorking(progress) {
  return progress !== undefined && progress.phase !== "done" && progress.phase !== "error";
}

const fillers = new Set(
  "a an and are as at be by did do does for from had has have how in is it its me my of on or our that the their they this to was we were what when where which who why will with you your".split(
    " ",
  ),
);

/**
 * A snippet with the words of the question apart: `["the ", {mark: "router"}, " is"]`. Words that say nothing are marked only when there are no others.
 * @param {string} text
 * @param {string} query
 * @returns {Array<string | { mark: string }>}
 */
export function markWords(text, query) {
  const all = [...new Set((query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, 64))];
  const telling = all.filter((word) => !fillers.has(word));
  const words = telling.length > 0 ? telling : all;
  if (words.length === 0) return [text];
  const cjk = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
  const forms = words
    .sort((a, b) => b.length - a.length)
    .map((word) => (cjk.test(word) ? word : `(?<![\\p{L}\\p{N}_])${word}(?:e?s)?(?![\\p{L}\\p{N}_])`));
  const pattern = new RegExp(forms.join("|"), "giu");
  /** @type {Array<string | { mark: string }>} */
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    parts.push({ mark: match[0] });
    last = match.index + match[0].length;
  }
  if (last < text.length || parts.length === 0) parts.push(text.slice(last));
  return parts;
}

/** Text before the first marked word that still leaves it within the lines of a hit. */
const LEAD_CHARS = 120;

/**
 * The parts of `markWords` cut so that the first marked word is seen: it must not lie below the last line that is shown.
 * @param {Array<string | { mark: string }>} parts
 * @returns {Array<string | { mark: string }>}
 */
export function fromFirstMark(parts) {
  const [lead] = parts;
  if (parts.length < 2 || typeof lead !== "string" || lead.length <= LEAD_CHARS) return parts;
  const end = lead.slice(-LEAD_CHARS);
  const atWord = end.indexOf(" ") + 1;
  return [`…${end.slice(atWord)}`, ...parts.slice(1)];
}

/** "0.71", or a dash for a leg that did not find it. @param {number | undefined} score */
export function scoreWord(score) {
  return typeof score === "number" && Number.isFinite(score) ? decimal(score, 2, 2) : "–";
}
