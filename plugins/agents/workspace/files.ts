import { lstat as lstatThen, type Stats } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type AgentInfo, agentSetting, type SvcConfig, writeFileAtomic } from "svc/sdk";
import { openRegular } from "svc/sdk/internal";
import { cutMiddle } from "../common/cut.ts";
import { bootstrapOrder, templates } from "./templates.ts";

const DEFAULT_FILE_CHARS = 20_000;
const DEFAULT_TOTAL_CHARS = 150_000;
/** Read where there is no `MEMORY.md`. */
const OTHER_MEMORY = "memory.md";
/** Less than this of a file is not worth a heading. */
const MIN_PART_CHARS = 200;
/** Larger files are not read at all; nobody means such a file as an instruction. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Files whose text is kept; each day brings new ones. */
const MAX_CACHED = 512;

/** The names of the files written, and whether the folder itself was created. */
export interface EnsuredWorkspace {
  isMade: boolean;
  written: string[];
}

/** Makes the folder and the files that are missing. What is there is never touched. */
export async function ensureWorkspace(agent: AgentInfo, options: { skipBootstrap: boolean }): Promise<EnsuredWorkspace> {
  // The first folder that had to be made; none when this one was there already.
  const isMade = (await mkdir(agent.workspace, { recursive: true, mode: 0o700 })) !== undefined;
  if (options.skipBootstrap) return { isMade, written: [] };
  const written: string[] = [];
  for (const { name, content } of templates) {
    const path = join(agent.workspace, name);
    if (await exists(path)) continue;
    await writeFileAtomic(path, content);
    written.push(name);
  }
  return { isMade, written };
}

export interface WorkspacePrompt {
  /** The bootstrap files of an agent as one prompt part, with `memory` its notes of yesterday and today (`now`, epoch ms) too; empty when there are none. */
  read(agent: AgentInfo, options: { memory: boolean; heartbeat: boolean; now: number }): Promise<string>;
}

interface CachedFile {
  stamp: string;
  text: string;
}

/** Reads bootstrap files; a file is read again only when its time or size changed, so an unchanged workspace costs a few `stat` calls. */
export function createWorkspacePrompt(config: SvcConfig): WorkspacePrompt {
  const files = new Map<string, CachedFile>();
  const rendered = new Map<string, { stamp: string; text: string }>();

  const load = async (root: string, name: string, maxChars: number): Promise<CachedFile | undefined> => {
    const path = join(root, name);
    const info = await factsOf(path);
    if (!info?.isFile() || info.size > MAX_FILE_BYTES) return undefined;
    const stamp = `${info.mtimeMs}:${info.size}:${maxChars}`;
    const known = files.get(path);
    if (known?.stamp === stamp) return known;
    const content = await readInside(path, root);
    if (content === undefined) return undefined;
    const text = cutMiddle(content.trim(), maxChars);
    const file = { stamp, text };
    if (files.size >= MAX_CACHED) files.clear();
    files.set(path, file);
    return file;
  };

  return {
    async read(agent, { memory, heartbeat, now }) {
      const perFile = agentSetting(config, agent.id, "bootstrapMaxChars") ?? DEFAULT_FILE_CHARS;
      const total = agentSetting(config, agent.id, "bootstrapTotalMaxChars") ?? DEFAULT_TOTAL_CHARS;
      const names = bootstrapOrder.filter((n) => (n === "MEMORY.md" ? memory : n === "HEARTBEAT.md" ? heartbeat : true));
      // The notes last, because today's changes most and a vendor's prompt cache ends where the text differs. All at once: a model waits for them.
      const all = memory ? [...names, OTHER_MEMORY, ...dailyNotes(now)] : names;
      const loaded = await Promise.all(all.map(async (name) => ({ name, file: await load(agent.workspace, name, perFile) })));
      const hasMemory = loaded.some(({ name, file }) => name === "MEMORY.md" && file);
      const parts = loaded.flatMap(({ name, file }) =>
        name !== OTHER_MEMORY ? [{ name, file }] : hasMemory ? [] : [{ name: "MEMORY.md", file }],
      );

      const stamp = parts.map((p) => `${p.name} ${p.file?.stamp ?? "-"}`).join("|");
      const key = `${agent.id}:${memory}:${heartbeat}`;
      const known = rendered.get(key);
      if (known?.stamp === stamp) return known.text;
      const text = renderFiles(parts, total);
      rendered.set(key, { stamp, text });
      return text;
    },
  };
}

/** Undefined for what is not there, as most of these files are: the error of a promise takes longer to make than the answer. */
function factsOf(path: string): Promise<Stats | undefined> {
  return new Promise((resolve) => lstatThen(path, (error, facts) => resolve(error ? undefined : facts)));
}

/** A plain file of the workspace itself: what a link leads to is no instruction to an agent. */
async function readInside(path: string, root: string): Promise<string | undefined> {
  const file = await openRegular(path, { root, maxBytes: MAX_FILE_BYTES }).catch(() => undefined);
  try {
    return await file?.readFile("utf8");
  } finally {
    await file?.close();
  }
}

/** Files under headings, empty ones left out, all together at most `maxChars` of content. */
export function renderFiles(parts: ReadonlyArray<{ name: string; file: { text: string } | undefined }>, maxChars: number): string {
  let left = maxChars;
  const out: string[] = [];
  for (const { name, file } of parts) {
    if (!file || file.text === "") continue;
    if (left < MIN_PART_CHARS && file.text.length > left) continue;
    const text = cutMiddle(file.text, left);
    left -= text.length;
    out.push(`## ${name}\n\n${text}`);
  }
  return out.length === 0 ? "" : `# Workspace files\n\n${out.join("\n\n")}`;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Paths of the notes of yesterday and of today, by the machine's time zone, which is the one the prompt names. */
function dailyNotes(now: number): string[] {
  const today = new Date(now);
  // By the calendar, not by 24 hours: days with a change of clock are longer or shorter.
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  return [yesterday, today].map((day) => `memory/${isoDay(day)}.md`);
}

/** A day of the calendar, by the machine's time zone. */
export function isoDay(day: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(day.getFullYear()).padStart(4, "0")}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
