import { isRecord } from "svc/sdk";
import { agentIdPattern, exceedsJsonShape, type Tree } from "svc/sdk/internal";
import type { LeftOut } from "../plan/left-out.ts";
import { reasonOf, type SourceFolder } from "./folder.ts";

const MAX_CONFIG_BYTES = 5_000_000;
const MAX_JOBS = 1_000;
const MAX_INDEX_BYTES = 32_000_000;
/** Sections by which a config is known; a file with fewer than two of them is something else. */
const sections = ["agents", "bindings", "channels", "cron", "gateway", "hooks", "messages", "models", "session", "tools"];
/** Files by which a workspace is known. */
const workspaceFiles = ["AGENTS.md", "SOUL.md", "MEMORY.md", "USER.md", "IDENTITY.md", "HEARTBEAT.md"];

/** Entries of one agent's session index, and the transcripts beside it. */
export interface SourceSessions {
  agentId: string;
  /** Folder of the index, relative. */
  folder: string;
  entries: Array<[key: string, entry: Tree]>;
  transcripts: string[];
}

/** A folder as it was read: what is in it, and what was found and cannot be read. */
export interface Source {
  kind: "gateway" | "workspace";
  /** Name of the config file, when there is one. */
  configName?: string;
  config: Tree;
  sessions: SourceSessions[];
  /** Ids of agents that have a folder of their own. */
  agentFolders: string[];
  /** Folders at the top that hold the files of a workspace. */
  workspaces: string[];
  /** Scheduled jobs, as they are written there. */
  cronJobs: Tree[];
  leftOut: LeftOut[];
}

/**
 * Reads a folder by the shape of its files.
 * @returns undefined for one that holds nothing that is known
 */
export async function readSource(folder: SourceFolder, parse: (text: string) => unknown): Promise<Source | undefined> {
  const top = await folder.list("");
  if (!top) return undefined;
  const leftOut: LeftOut[] = top.refused.map(({ name, reason }) => ({ path: name, reason }));
  const found = await readConfig(folder, top.files, { parse, leftOut });
  const sessions = await readSessions(folder, { parse, leftOut });
  const agentFolders = ((await folder.list("agents"))?.folders ?? []).map((id) => id.toLowerCase()).filter((id) => agentIdPattern.test(id));
  const workspaces: string[] = [];
  for (const name of top.folders) if (isWorkspace((await folder.list(name))?.files ?? [])) workspaces.push(name);
  const state = { sessions, agentFolders, workspaces, cronJobs: await readCron(folder, { parse, leftOut }), leftOut };
  if (found || sessions.length > 0) {
    for (const name of top.folders) {
      if (stateFolders[name] !== undefined) leftOut.push({ path: `${name}/`, reason: stateFolders[name] });
    }
    return { kind: "gateway", ...(found ? { configName: found.name } : {}), config: found?.config ?? {}, ...state };
  }
  if (isWorkspace(top.files)) return { kind: "workspace", config: {}, ...state, sessions: [], agentFolders: [], workspaces: [""] };
  return undefined;
}

/** Folders of a gateway that have no counterpart here. */
const stateFolders: Readonly<Record<string, string>> = {
  credentials: "logins and pairings are not imported: pair people and devices with this gateway",
  devices: "devices are paired anew",
  extensions: "plugins are code for another gateway; install those of svc",
  hooks: "hook code is written for another gateway; see the guide for webhooks",
  identity: "each gateway has a key of its own",
  skills: "skills are not taken over; copy their folders to skills/ in the workspace",
};

function isWorkspace(files: readonly string[]): boolean {
  return workspaceFiles.filter((name) => files.includes(name)).length >= 2 || files.includes("MEMORY.md");
}

interface Reading {
  parse(text: string): unknown;
  leftOut: LeftOut[];
}

/** The JSON file at the top with the most known sections. */
async function readConfig(folder: SourceFolder, files: readonly string[], { parse, leftOut }: Reading) {
  let best: { name: string; config: Tree; score: number } | undefined;
  for (const name of files.filter((file) => /\.json5?$/.test(file)).slice(0, 50)) {
    try {
      const config = toTree(parse((await folder.read(name, MAX_CONFIG_BYTES)).toString("utf8").replace(/^\uFEFF/, "")));
      const score = sections.filter((section) => Object.hasOwn(config, section)).length;
      if (score >= 2 && score > (best?.score ?? 0)) best = { name, config, score };
    } catch (error) {
      leftOut.push({ path: name, reason: parseReason(error) });
    }
  }
  return best;
}

function toTree(value: unknown): Tree {
  if (!isRecord(value)) throw new Error("it holds no object");
  if (exceedsJsonShape(value, Number.POSITIVE_INFINITY)) throw new Error("it is nested deeper than 64 levels");
  return value;
}

/** The place of an error of the parser; its text may quote the file, which may hold a secret. */
function parseReason(error: unknown): string {
  const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
  if (lineNumber !== undefined) return `it is not JSON5: line ${lineNumber}, column ${columnNumber ?? 1}`;
  return error instanceof SyntaxError ? "it is not JSON" : reasonOf(error);
}

async function readSessions(folder: SourceFolder, reading: Reading): Promise<SourceSessions[]> {
  const agents = await folder.list("agents");
  const places = (agents?.folders ?? [])
    .map((id) => ({ agentId: id.toLowerCase(), path: `agents/${id}/sessions` }))
    .sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
  for (const id of agents?.folders ?? []) await listDatabases(folder, `agents/${id}`, reading.leftOut);
  for (const { name, reason } of agents?.refused ?? []) reading.leftOut.push({ path: `agents/${name}`, reason });
  const found: SourceSessions[] = [];
  for (const { agentId, path } of [...places, { agentId: "main", path: "sessions" }]) {
    const listing = await folder.list(path);
    if (!listing) continue;
    for (const { name, reason } of listing.refused) reading.leftOut.push({ path: `${path}/${name}`, reason });
    if (!agentIdPattern.test(agentId)) {
      reading.leftOut.push({ path, reason: "the name of the folder is no id of an agent" });
      continue;
    }
    if (!listing.files.includes("sessions.json")) {
      reading.leftOut.push({ path, reason: "there is no sessions.json that says which transcript belongs to whom" });
      continue;
    }
    try {
      const index = toTree(reading.parse((await folder.read(`${path}/sessions.json`, MAX_INDEX_BYTES)).toString("utf8")));
      const entries = Object.entries(index).filter((entry): entry is [string, Tree] => isRecord(entry[1]));
      found.push({ agentId, folder: path, entries, transcripts: listing.files.filter((name) => name.endsWith(".jsonl")) });
    } catch (error) {
      reading.leftOut.push({ path: `${path}/sessions.json`, reason: parseReason(error) });
    }
  }
  return found;
}

/** Newer states may keep conversations in a database, whose tables nobody but its program knows. */
async function listDatabases(folder: SourceFolder, path: string, leftOut: LeftOut[]): Promise<void> {
  for (const place of [path, `${path}/sessions`]) {
    const names = (await folder.list(place))?.files.filter((name) => /\.(?:sqlite3?|db)$/.test(name)) ?? [];
    for (const name of names)
      leftOut.push({ path: `${place}/${name}`, reason: "databases are not read; conversations come from sessions.json and *.jsonl" });
  }
}

/** Scheduled jobs, at most 1,000. */
async function readCron(folder: SourceFolder, { parse, leftOut }: Reading): Promise<Tree[]> {
  const path = "cron/jobs.json";
  if (!(await folder.list("cron"))?.files.includes("jobs.json")) return [];
  try {
    const { jobs } = toTree(parse((await folder.read(path, MAX_CONFIG_BYTES)).toString("utf8")));
    return Array.isArray(jobs) ? jobs.filter(isRecord).slice(0, MAX_JOBS) : [];
  } catch (error) {
    leftOut.push({ path, reason: parseReason(error) });
    return [];
  }
}
