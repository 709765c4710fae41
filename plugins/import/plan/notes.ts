import { isRecord } from "svc/sdk";
import type { Tree } from "svc/sdk/internal";
import type { SourceFolder } from "../read/folder.ts";
import type { LeftOut } from "./left-out.ts";

/** Bounds of the notes of one agent. */
const MAX_NOTES = 10_000;
const MAX_DEPTH = 8;
/** Largest note that is copied. */
export const MAX_NOTE_BYTES = 10_000_000;

/** Notes of a workspace: paths below it, and below the folder that is imported. */
export interface WorkspaceNotes {
  agentId: string;
  /** Folder of the workspace in the folder that is imported; empty for that itself. */
  folder: string;
  paths: string[];
}

/**
 * Says which folder holds the files of an agent: the one its config names, when that is in the folder that is imported or a copy of it stands at its top, else
 * `workspace` for the default agent and `workspace-<id>` for the others.
 */
export function workspaceOf(agent: { id: string; isDefault: boolean }, config: Tree, folders: readonly string[]): string | undefined {
  const agents = isRecord(config.agents) ? config.agents : {};
  const entry = Array.isArray(agents.list)
    ? agents.list.find((one) => isRecord(one) && String(one.id).toLowerCase() === agent.id)
    : undefined;
  const defaults = isRecord(agents.defaults) ? agents.defaults : {};
  const named = (isRecord(entry) ? entry.workspace : undefined) ?? (agent.isDefault ? defaults.workspace : undefined);
  const last = typeof named === "string" ? named.split(/[/\\]/).filter(Boolean).at(-1) : undefined;
  return [last, ...(agent.isDefault ? ["workspace"] : []), `workspace-${agent.id}`].find(
    (name) => name !== undefined && folders.includes(name),
  );
}

/** Lists the notes of a workspace: Markdown at its top, and below `memory`. */
export async function listNotes(source: SourceFolder, folder: string, leftOut: LeftOut[]): Promise<string[]> {
  const below = (path: string) => (folder === "" ? path : path === "" ? folder : `${folder}/${path}`);
  const paths: string[] = [];
  const visit = async (path: string, depth: number): Promise<void> => {
    const listing = await source.list(below(path));
    if (!listing) return;
    const inside = (name: string) => (path === "" ? name : `${path}/${name}`);
    for (const { name, reason } of listing.refused) leftOut.push({ path: below(inside(name)), reason });
    for (const name of listing.files) {
      if (paths.length === MAX_NOTES) {
        leftOut.push({ path: below(path), reason: `more than ${MAX_NOTES} notes` });
        return;
      }
      if (name.startsWith(".")) continue;
      if (name.endsWith(".md")) paths.push(inside(name));
      else leftOut.push({ path: below(inside(name)), reason: "only notes in Markdown are copied" });
    }
    for (const name of listing.folders) {
      const isNotes = path !== "" || name === "memory";
      if (isNotes && depth < MAX_DEPTH) await visit(inside(name), depth + 1);
      else if (!name.startsWith("."))
        leftOut.push({ path: `${below(inside(name))}/`, reason: "only notes are copied: *.md at the top and below memory/" });
    }
  };
  await visit("", 0);
  return paths;
}
