import { createHash } from "node:crypto";
import { isRecord } from "svc/sdk";
import { conceptTags } from "./concept-tags.ts";
import { wordsOf } from "./similarity.ts";

/** One statement of the short-term memory and the evidence for it. Moments are ISO 8601, days `YYYY-MM-DD`. */
export interface RecallEntry {
  /** `memory:<path>:<start>:<end>:<claim hash>`, of the place where it was found first. */
  key: string;
  /** Daily note, or file of the session corpus, relative to the workspace. */
  path: string;
  startLine: number;
  endLine: number;
  snippet: string;
  /** Times that a search found it. */
  recallCount: number;
  /** Times that a sweep read it in a changed note or conversation. */
  dailyCount: number;
  /** Times that it was staged from historical notes. */
  groundedCount: number;
  totalScore: number;
  maxScore: number;
  firstRecalledAt: string;
  lastRecalledAt: string;
  /** Of different queries, the newest last. */
  queryHashes: string[];
  recallDays: string[];
  conceptTags: string[];
  promotedAt?: string;
  /** Message of a conversation, `sessions/<id>#L<number>`. */
  ref?: string;
  /** It came from a group or from outside, so it is never promoted by itself. */
  isUntrusted?: true;
}

/** One piece of evidence. */
export interface Signal {
  kind: "recall" | "daily" | "grounded";
  path: string;
  startLine: number;
  endLine: number;
  snippet: string;
  /** 0 to 1. */
  score: number;
  query: string;
  /** Epoch ms. */
  at: number;
  /** Calendar day of `at`, or of the note. */
  day: string;
  /** The same query counts once a day. */
  isOncePerDay?: boolean;
  ref?: string | undefined;
  isUntrusted?: boolean;
}

const MAX_QUERIES = 32;
const MAX_DAYS = 16;

/** All evidence for an entry. */
export function signalCount({ recallCount, dailyCount, groundedCount }: RecallEntry): number {
  return recallCount + dailyCount + groundedCount;
}

/** Mean score of the evidence, 0 to 1. */
export function meanScore(entry: RecallEntry): number {
  const count = signalCount(entry);
  return count === 0 ? 0 : Math.min(1, Math.max(0, entry.totalScore / count));
}

/** Name of what is said, whatever its lines and punctuation. */
export function claimHash(snippet: string): string {
  return shortHash(wordsOf(snippet).join(" "), 12);
}

export function queryHash(query: string): string {
  return shortHash(query.trim().toLowerCase(), 12);
}

export function shortHash(text: string, chars: number): string {
  return createHash("sha1").update(text).digest("hex").slice(0, chars);
}

/** An entry with one more piece of evidence. Pure. */
export function withSignal(entry: RecallEntry | undefined, key: string, signal: Signal): RecallEntry {
  const { path, startLine, endLine, snippet, score, at, day } = signal;
  const moment = new Date(at).toISOString();
  const before = entry ?? emptyEntry(key, signal, moment);
  const isLater = moment > before.lastRecalledAt;
  const counted = { recallCount: before.recallCount, dailyCount: before.dailyCount, groundedCount: before.groundedCount };
  counted[`${signal.kind}Count`] += 1;
  return {
    ...before,
    key,
    path,
    startLine,
    endLine,
    snippet,
    ...counted,
    totalScore: round(before.totalScore + score),
    maxScore: Math.max(before.maxScore, score),
    firstRecalledAt: moment < before.firstRecalledAt ? moment : before.firstRecalledAt,
    lastRecalledAt: isLater ? moment : before.lastRecalledAt,
    queryHashes: newest([...before.queryHashes, queryHash(signal.query)], MAX_QUERIES),
    recallDays: newest([...before.recallDays, day], MAX_DAYS).sort(),
    conceptTags: conceptTags(path, snippet),
    ...(signal.ref === undefined ? {} : { ref: signal.ref }),
    // Once from outside, always from outside: the same words do not become one's own by being said again.
    ...(signal.isUntrusted || before.isUntrusted ? { isUntrusted: true as const } : {}),
  };
}

/** True when this query has counted for the entry on this day already. */
export function hasCounted(entry: RecallEntry, { query, day }: Pick<Signal, "query" | "day">): boolean {
  return entry.queryHashes.includes(queryHash(query)) && entry.recallDays.includes(day);
}

function emptyEntry(key: string, { path, startLine, endLine, snippet }: Signal, moment: string): RecallEntry {
  return {
    key,
    path,
    startLine,
    endLine,
    snippet,
    recallCount: 0,
    dailyCount: 0,
    groundedCount: 0,
    totalScore: 0,
    maxScore: 0,
    firstRecalledAt: moment,
    lastRecalledAt: moment,
    queryHashes: [],
    recallDays: [],
    conceptTags: [],
  };
}

/** The newest of different values, in order. */
function newest(values: readonly string[], max: number): string[] {
  return [...new Set(values.toReversed())].reverse().slice(-max);
}

/** Sums of scores do not grow digits. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** A stored entry; undefined for what is none, whoever wrote it. */
export function toRecallEntry(value: unknown): RecallEntry | undefined {
  if (!isRecord(value)) return undefined;
  const texts = [value.key, value.path, value.snippet, value.firstRecalledAt, value.lastRecalledAt];
  const counts = [value.startLine, value.endLine, value.recallCount, value.dailyCount, value.groundedCount];
  const isSound =
    texts.every((text) => typeof text === "string" && text !== "" && text.length <= 2_000) &&
    counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0) &&
    [value.totalScore, value.maxScore].every((score) => Number.isFinite(score) && Number(score) >= 0) &&
    [value.queryHashes, value.recallDays, value.conceptTags].every(isTextList) &&
    [value.firstRecalledAt, value.lastRecalledAt, value.promotedAt ?? value.lastRecalledAt].every(isMoment) &&
    (value.ref === undefined || typeof value.ref === "string");
  return isSound && isOwnPath(String(value.path)) ? (value as unknown as RecallEntry) : undefined;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 64 && value.every((text) => typeof text === "string" && text.length <= 200);
}

function isMoment(value: unknown): boolean {
  return typeof value === "string" && Number.isFinite(Date.parse(value));
}

/** Only notes and corpus files are sources: an entry that somebody wrote by hand leads nowhere else. */
function isOwnPath(path: string): boolean {
  return /^memory\/(?:[^/\0]+\/)*[^/\0]+\.(?:md|txt)$/.test(path) && !path.split("/").includes("..");
}
