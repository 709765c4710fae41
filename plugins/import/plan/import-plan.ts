import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentInfo, commonErrors, isRecord, resolveAgents, type SvcConfig } from "svc/sdk";
import type { CronJobRow, Tree } from "svc/sdk/internal";
import { importErrors } from "../errors.ts";
import type { SourceFolder } from "../read/folder.ts";
import type { Source } from "../read/source.ts";
import { openTranscript, type Transcript } from "../read/transcript.ts";
import type { LeftOut } from "./left-out.ts";
import { fitConfig, type Issue, mergeConfig } from "./merge-config.ts";
import { listNotes, MAX_NOTE_BYTES, workspaceOf } from "./notes.ts";
import { jobName, toJob } from "./to-job.ts";
import { type PlannedSession, toSession } from "./to-session.ts";
import { translateConfig } from "./translate-config.ts";

/** A conversation to take over. */
export interface SessionStep extends PlannedSession {
  transcript: Transcript;
  /** Path of the transcript in the folder. */
  path: string;
  messages: number;
}

/** A note to copy. */
export interface NoteStep {
  agentId: string;
  /** Path in the folder. */
  from: string;
  /** Absolute. */
  to: string;
}

/** Everything that an import would do, and what does not come. Nothing in it is a secret but the config. */
export interface ImportPlan {
  /** Wanted config, with its secrets: never printed. */
  config: Tree;
  agents: AgentInfo[];
  sessions: SessionStep[];
  /** Scheduled jobs, switched off. */
  jobs: CronJobRow[];
  notes: NoteStep[];
  /** Notes that are there already, with the same content. */
  sameNotes: number;
  leftOut: LeftOut[];
}

/** This gateway, as far as a plan depends on it. */
export interface Here {
  source: Tree;
  stateDir: string;
  /** JSON Schemas of the channels, by id. */
  channels: Readonly<Record<string, unknown>>;
  now: number;
  signal: AbortSignal;
  /** Faults of a config; none when it can be written. */
  check(config: Tree): Promise<Issue[]>;
  /** The effective form of a config that can be written. */
  effective(config: Tree): Promise<SvcConfig>;
}

/** Works out what an import does. Reads the folder and compares notes; writes nothing. */
export async function planImport(folder: SourceFolder, source: Source, here: Here, options: { agent?: string } = {}): Promise<ImportPlan> {
  const leftOut: LeftOut[] = [...source.leftOut];
  const config = source.kind === "gateway" ? await planConfig(source, here, leftOut) : here.source;
  const agents = resolveAgents(await here.effective(config), here.stateDir);
  const jobs = planJobs(source, { agents, here, leftOut });
  const sessions = await planSessions(folder, source, { agents, here, leftOut });
  const notes = await planNotes(folder, source, { agents, here, leftOut, agent: options.agent });
  return { config, agents, sessions, jobs, ...notes, leftOut };
}

async function planConfig(source: Source, here: Here, leftOut: LeftOut[]): Promise<Tree> {
  const translated = translateConfig(source.config, { channels: here.channels });
  leftOut.push(...translated.leftOut);
  const wanted = withAgents(translated.config, here.source, [...source.agentFolders, ...source.sessions.map(({ agentId }) => agentId)]);
  const merged = await fitConfig(here.source, mergeConfig(here.source, wanted), here.check);
  leftOut.push(...merged.leftOut);
  return merged.config;
}

/** Adds agents that have conversations and no entry. The implicit agent `main` stays where a list is written for the first time. */
export function withAgents(wanted: Tree, present: Tree, ids: readonly string[]): Tree {
  const listOf = (tree: Tree) => (isRecord(tree.agents) && Array.isArray(tree.agents.list) ? tree.agents.list.filter(isRecord) : []);
  const [list, here] = [listOf(wanted), listOf(present)];
  const has = (id: string) => [...list, ...here].some((entry) => entry.id === id);
  const missing = [...new Set(ids)].filter((id) => !has(id));
  if (list.length === 0 && here.length === 0 && missing.every((id) => id === "main")) return wanted;
  if (here.length === 0 && !has("main") && !missing.includes("main")) missing.push("main");
  if (missing.length === 0) return wanted;
  // The first of a list answers where none is named: it is `main` where no other one was said to be.
  const added = missing.map((id) => ({ id }));
  const first = list.length === 0 ? added.toSorted((a, b) => Number(b.id === "main") - Number(a.id === "main")) : added;
  return { ...wanted, agents: { ...(isRecord(wanted.agents) ? wanted.agents : {}), list: [...list, ...first] } };
}

interface Planning {
  agents: readonly AgentInfo[];
  here: Here;
  leftOut: LeftOut[];
}

function planJobs({ cronJobs }: Source, { agents, here, leftOut }: Planning): CronJobRow[] {
  const ids = new Set(agents.map(({ id }) => id));
  const defaultAgent = agents.find(({ isDefault }) => isDefault)?.id ?? "main";
  const taken = new Map<string, CronJobRow>();
  for (const [i, foreign] of cronJobs.entries()) {
    const name = jobName(foreign, i);
    const job = toJob(foreign, name, { agents: ids, defaultAgent, now: here.now });
    if (typeof job === "string") leftOut.push({ path: `cron: ${name}`, reason: job });
    else if (taken.has(job.id)) leftOut.push({ path: `cron: ${name}`, reason: "another job has the same id" });
    else taken.set(job.id, job);
  }
  return [...taken.values()];
}

async function planSessions(folder: SourceFolder, source: Source, { agents, here, leftOut }: Planning): Promise<SessionStep[]> {
  const session = isRecord(source.config.session) ? source.config.session : {};
  const mainKey = typeof session.mainKey === "string" ? session.mainKey : "main";
  const ids = new Set(agents.map(({ id }) => id));
  const taken = new Map<string, SessionStep>();
  for (const { agentId, folder: path, entries, transcripts } of source.sessions) {
    const newestFirst = entries.toSorted(([, a], [, b]) => Number(b.updatedAt ?? 0) - Number(a.updatedAt ?? 0));
    const used = new Set<string>();
    for (const [key, entry] of newestFirst) {
      here.signal.throwIfAborted();
      const leave = (reason: string) => leftOut.push({ path: `${path}/sessions.json: ${key}`, reason });
      const planned = toSession(key, entry, { agentId, agents: ids, mainKey, now: here.now - taken.size });
      if (typeof planned === "string") {
        used.add(`${entry.sessionId}.jsonl`);
        leave(planned);
        continue;
      }
      used.add(planned.fileName);
      if (taken.has(planned.session.key)) leave("a newer entry has the same key");
      else if (!transcripts.includes(planned.fileName)) leave("its transcript is not there");
      else {
        const step = await readStep(folder, planned, { path: `${path}/${planned.fileName}`, leftOut });
        if (step) taken.set(planned.session.key, step);
      }
    }
    const loose = transcripts.filter((name) => !used.has(name)).length;
    if (loose > 0) leftOut.push({ path, reason: `transcripts of no conversation (archives of resets, leftovers): ${loose}` });
  }
  return [...taken.values()];
}

async function readStep(
  folder: SourceFolder,
  planned: PlannedSession,
  { path, leftOut }: { path: string; leftOut: LeftOut[] },
): Promise<SessionStep | undefined> {
  const transcript = await openTranscript(folder, path, leftOut);
  if (!transcript) return undefined;
  leftOut.push(...transcript.leftOut);
  let messages = 0;
  for await (const _message of transcript.messages(planned.session.sessionId)) messages += 1;
  if (messages > 0) return { ...planned, transcript, path, messages };
  leftOut.push({ path, reason: "it holds no message" });
  return undefined;
}

async function planNotes(folder: SourceFolder, source: Source, { agents, here, leftOut, agent }: Planning & { agent: string | undefined }) {
  const plan = { notes: [] as NoteStep[], sameNotes: 0 };
  const used = new Set<string>();
  for (const one of notesAgents(source, agents, agent)) {
    const place = source.kind === "workspace" ? "" : workspaceOf(one, source.config, source.workspaces);
    if (place === undefined || used.has(place)) {
      if (source.kind === "gateway")
        leftOut.push({
          path: `notes of ${one.id}`,
          reason: `its workspace is not in this folder; svc import <workspace> --agent ${one.id}`,
        });
      continue;
    }
    used.add(place);
    for (const path of await listNotes(folder, place, leftOut)) {
      here.signal.throwIfAborted();
      const from = place === "" ? path : `${place}/${path}`;
      const to = join(one.workspace, path);
      const state = await compareNote(folder, from, to);
      if (state === "new") plan.notes.push({ agentId: one.id, from, to });
      else if (state === "same") plan.sameNotes += 1;
      else leftOut.push({ path: from, reason: state });
    }
  }
  for (const name of source.workspaces) {
    if (!used.has(name) && name !== "")
      leftOut.push({ path: `${name}/`, reason: "it is the workspace of no agent here; svc import <it> --agent <id>" });
  }
  return plan;
}

/** Agents whose notes are looked for: those that the folder speaks of. */
function notesAgents(source: Source, agents: readonly AgentInfo[], named: string | undefined): AgentInfo[] {
  if (named !== undefined && source.kind === "gateway") throw commonErrors.usage({ message: "--agent is for the folder of a workspace" });
  if (source.kind === "workspace") {
    const agent = agents.find(({ id, isDefault }) => (named === undefined ? isDefault : id === named.toLowerCase()));
    if (!agent) throw importErrors.importAgentUnknown({ agent: named ?? "", known: agents.map(({ id }) => id).join(", ") });
    return [agent];
  }
  const list = isRecord(source.config.agents) && Array.isArray(source.config.agents.list) ? source.config.agents.list.filter(isRecord) : [];
  const ids = new Set([
    ...source.agentFolders,
    ...source.sessions.map(({ agentId }) => agentId),
    ...list.map(({ id }) => String(id).toLowerCase()),
  ]);
  return agents.filter(({ id, isDefault }) => isDefault || ids.has(id));
}

/** @returns `new`, `same`, or the reason why the note stays where it is */
async function compareNote(folder: SourceFolder, from: string, to: string): Promise<"new" | "same" | (string & {})> {
  const there = await lstat(to).catch(() => undefined);
  let bytes: Buffer;
  try {
    bytes = await folder.read(from, MAX_NOTE_BYTES);
  } catch (error) {
    const { fields } = error as { fields?: { reason?: string } };
    return fields?.reason ?? "it cannot be read";
  }
  if (!there) return "new";
  if (there.isFile() && there.size === bytes.length && (await sameBytes(to, bytes))) return "same";
  return "a note of this name is here with other content, which stays";
}

async function sameBytes(path: string, bytes: Buffer): Promise<boolean> {
  return bytes.equals(await readFile(path));
}
