import { join, sep } from "node:path";
import type { Modality } from "../index-settings.ts";
import { isMedia } from "./media.ts";

/** Folders of an agent's files. */
export interface ListingRoots {
  workspace: string;
  extraPaths: readonly string[];
}

export interface ListingOptions extends ListingRoots {
  /** Kinds of media taken from extra paths besides Markdown. */
  modalities?: readonly Modality[];
}

/** Names of curated notes in the workspace. */
export const curatedNames = ["MEMORY.md", "memory.md"];
/** Folders nobody looks into, wherever they stand below a root. */
export const ignoredNames = new Set([".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"]);

export function isMarkdown(path: string): boolean {
  return /\.md$/i.test(path);
}

/** Filter for file names: Markdown everywhere, media below extra paths only. */
export function takenNames({ workspace, modalities = [] }: ListingOptions): (path: string) => boolean {
  const notes = join(workspace, "memory") + sep;
  return (path) => isMarkdown(path) || (!path.startsWith(notes) && isMedia(path, modalities));
}
