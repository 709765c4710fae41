import { readdir } from "node:fs/promises";
import { isRecord, isSvcError } from "svc/sdk";
import { openContained, replaceContained } from "svc/sdk/internal";
import { memoryErrors } from "../errors.ts";

/** Folder of the machine state, below the workspace. */
export const STATE_FOLDER = ["memory", ".dreams"] as const;
/** Files of the state that hold JSON. */
export type StateFile = "short-term-recall" | "phase-signals" | "daily-ingestion" | "session-ingestion";
export const stateFiles: readonly StateFile[] = ["short-term-recall", "phase-signals", "daily-ingestion", "session-ingestion"];

/** As much as one file may hold: that of everything that is replaced as a whole. */
const MAX_BYTES = 4 * 1024 * 1024;
const EVENTS_FILE = "events.jsonl";
/** The event log keeps its newest part. */
const MAX_EVENT_BYTES = 256 * 1024;
const MAX_EVENT_CHARS = 4_000;

/** Text of a file below the workspace; undefined when there is none. @throws {SvcError} `unsafe-file` for a link, and anything but a regular file */
export async function readText(workspace: string, parts: readonly string[], maxBytes = MAX_BYTES): Promise<string | undefined> {
  const file = await openContained(workspace, parts, { maxBytes }).catch(unlessMissing);
  if (!file) return undefined;
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Size and time of a file below the workspace; undefined when there is none, or it is no regular file. */
export async function fileStamp(workspace: string, parts: readonly string[]): Promise<{ mtimeMs: number; size: number } | undefined> {
  const file = await openContained(workspace, parts).catch((error: unknown) => {
    if (!isSvcError(error, "unsafe-file")) throw error;
  });
  if (!file) return undefined;
  try {
    const { mtimeMs, size } = await file.stat();
    return { mtimeMs: Math.round(mtimeMs), size };
  } finally {
    await file.close();
  }
}

/** Replaces a file below the workspace as a whole; one that somebody else changes at that moment is read again. @throws {SvcError} `unsafe-file` */
export async function changeText(
  workspace: string,
  parts: readonly string[],
  change: (before: string | undefined) => string,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await replaceContained(workspace, parts, (before) => change(before?.bytes.toString("utf8")));
      return;
    } catch (error) {
      const isRace = isSvcError(error, "unsafe-file") && String(error.fields.reason).startsWith("was changed meanwhile");
      if (!isRace || tries >= MAX_TRIES) throw error;
    }
  }
}
const MAX_TRIES = 5;

/** Object that a file of the state holds; `{}` when there is none. @throws {SvcError} `dream-state-broken`, `unsafe-file` */
export async function readState(workspace: string, name: StateFile): Promise<Record<string, unknown>> {
  const text = await readText(workspace, [...STATE_FOLDER, `${name}.json`]);
  if (text === undefined) return {};
  const value = parsed(text);
  if (!isRecord(value)) throw memoryErrors.dreamStateBroken({ path: `${STATE_FOLDER.join("/")}/${name}.json` });
  return value;
}

export async function writeState(workspace: string, name: StateFile, value: object): Promise<void> {
  await changeText(workspace, [...STATE_FOLDER, `${name}.json`], () => `${JSON.stringify(value)}\n`);
}

/** Something that happened to the short-term memory. */
export interface DreamEvent {
  type: "memory.recall.recorded" | "memory.promotion.applied" | "memory.dream.completed";
  at: string;
  [field: string]: unknown;
}

/** Adds events to the log, which keeps its newest 256 KiB. */
export async function appendEvents(workspace: string, events: readonly DreamEvent[]): Promise<void> {
  if (events.length === 0) return;
  const lines = events.map((event) => JSON.stringify(event)).filter((line) => line.length <= MAX_EVENT_CHARS);
  await changeText(workspace, [...STATE_FOLDER, EVENTS_FILE], (before = "") => newestLines(`${endedLine(before)}${lines.join("\n")}\n`));
}

/** The newest event of a kind. */
export async function lastEvent(workspace: string, type: DreamEvent["type"]): Promise<DreamEvent | undefined> {
  const text = await readText(workspace, [...STATE_FOLDER, EVENTS_FILE]);
  const line = text?.split("\n").findLast((one) => one.includes(`"type":"${type}"`));
  const value = line === undefined ? undefined : parsed(line);
  return isRecord(value) && value.type === type && typeof value.at === "string" ? (value as DreamEvent) : undefined;
}

/** Names of daily notes, in the order of their days; none without a folder `memory`. */
export async function dailyNotes(workspace: string, parts: readonly string[] = ["memory"]): Promise<string[]> {
  const names = await readdir([workspace, ...parts].join("/")).catch(() => [] as string[]);
  return names.filter((name) => /^\d{4}-\d{2}-\d{2}\.md$/.test(name)).sort();
}

/** Name that a file of the workspace goes by: the first of these that is there, else the first. */
export async function presentName(workspace: string, names: readonly [string, ...string[]]): Promise<string> {
  const there = new Set(await readdir(workspace).catch(() => [] as string[]));
  return names.find((name) => there.has(name)) ?? names[0];
}

/** Value of a JSON text; undefined for a text that is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function newestLines(text: string): string {
  if (Buffer.byteLength(text) <= MAX_EVENT_BYTES) return text;
  const half = text.slice(-Math.floor(MAX_EVENT_BYTES / 2));
  return half.slice(half.indexOf("\n") + 1);
}

function endedLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** `openContained` explains a missing file as it does all others. */
function unlessMissing(error: unknown): undefined {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (isSvcError(error, "unsafe-file") && cause?.code === "ENOENT") return undefined;
  throw error;
}
