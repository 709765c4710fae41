import type { Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { agentSetting, cleanExternalLine, cutEnd, type PluginContext, resolveAgents } from "svc/sdk";
import { openContained } from "svc/sdk/internal";
import { matchesName } from "../glob.ts";
import { frontMatter } from "./front-matter.ts";

/** Instructions for one kind of task: a folder with `SKILL.md`. */
export interface Skill {
  /** Name of the folder, and `name` of its front matter. */
  name: string;
  description: string;
}

export interface Skills {
  /** Skills of an agent by name, without those that `skills.deny` names: those of its workspace, and of the others those in the state directory. */
  of(agentId: string): Promise<Skill[]>;
  /** The folder of the skills that all agents share, for a path that leads to one of them; undefined for every other path. */
  folderFor(agentId: string, parts: readonly string[]): Promise<string | undefined>;
}

const FOLDER = "skills";
const FILE = "SKILL.md";
const namePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_SKILLS = 64;
const MAX_LOOKED_AT = 1_000;
const MAX_FILE_BYTES = 1024 * 1024;
const HEAD_BYTES = 8_192;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_CACHED = 512;

interface Cached {
  stamp: string;
  skill: Skill | undefined;
}

export function createSkills(ctx: Pick<PluginContext, "snapshot" | "logger">, stateDir: string): Skills {
  const shared = join(stateDir, FOLDER);
  const cache = new Map<string, Cached>();

  const deniedBy = (agentId: string) => {
    const deny = agentSetting(ctx.snapshot(), agentId, "skills")?.deny ?? [];
    return (name: string) => deny.some((pattern) => matchesName(name, pattern));
  };
  const workspaceOf = (agentId: string) => resolveAgents(ctx.snapshot(), stateDir).find(({ id }) => id === agentId)?.workspace;

  const load = async (folder: string, name: string): Promise<Skill | undefined> => {
    const path = join(folder, name, FILE);
    const facts = await factsOf(path);
    if (!facts?.isFile()) return undefined;
    const stamp = `${facts.mtimeMs}:${facts.size}:${facts.ino}`;
    const known = cache.get(path);
    if (known?.stamp === stamp) return known.skill;
    const { skill, problem } = await readSkill(folder, name);
    if (problem !== undefined) ctx.logger.warn(`skill "${name}" is left out: ${problem}`, { path });
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(path, { stamp, skill });
    return skill;
  };

  return {
    async of(agentId) {
      const workspace = workspaceOf(agentId);
      if (workspace === undefined) return [];
      const isDenied = deniedBy(agentId);
      const found = new Map<string, Skill>();
      for (const folder of [join(workspace, FOLDER), shared]) {
        const names = (await namesIn(folder)).filter((name) => !found.has(name) && !isDenied(name));
        const skills = await Promise.all(names.slice(0, MAX_SKILLS).map((name) => load(folder, name)));
        for (const skill of skills) if (skill) found.set(skill.name, skill);
      }
      return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_SKILLS);
    },
    async folderFor(agentId, parts) {
      const [first, name] = parts;
      const workspace = workspaceOf(agentId);
      if (first !== FOLDER || name === undefined || workspace === undefined || !namePattern.test(name)) return undefined;
      if (deniedBy(agentId)(name) || (await factsOf(join(workspace, FOLDER, name)))) return undefined;
      return (await factsOf(join(shared, name)))?.isDirectory() ? shared : undefined;
    },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    let looked = 0;
    for await (const entry of await opendir(folder)) {
      if (entry.isDirectory() && namePattern.test(entry.name)) names.push(entry.name);
      looked += 1;
      if (looked >= MAX_LOOKED_AT) break;
    }
  } catch {
    return []; // there is none
  }
  return names.sort();
}

/** A plain file, reached through no link. */
async function readSkill(folder: string, name: string): Promise<{ skill?: Skill; problem?: string }> {
  const file = await openContained(folder, [name, FILE], { maxBytes: MAX_FILE_BYTES }).catch(() => undefined);
  if (!file) return { problem: `${FILE} cannot be read as a plain file of at most 1 MiB` };
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    const values = frontMatter(head.toString("utf8", 0, bytesRead));
    if (values?.name !== name) return { problem: `its front matter has no \`name: ${name}\`, the name of its folder` };
    const description = cutEnd(cleanExternalLine(values.description ?? ""), MAX_DESCRIPTION_CHARS);
    return description === "" ? { problem: "its front matter has no description" } : { skill: { name, description } };
  } finally {
    await file.close();
  }
}

async function factsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}
