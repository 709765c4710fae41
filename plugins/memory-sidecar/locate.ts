import { join, normalize, posix, relative, sep } from "node:path";
import type { MemoryHit } from "svc/sdk";
import { isInside } from "svc/sdk/internal";
import type { Collection } from "./collections.ts";
import { type EngineHit, hitText } from "./parse.ts";
import { realRelativePath } from "./real-path.ts";

/** First part of the path of a hit outside of the workspace. */
export const SIDECAR_ROOT = "sidecar";

/** Document by the engine's own words. */
export interface DocumentPlace {
  collection: string;
  path: string;
}

export interface LocateOptions {
  workspace: string;
  collections: readonly Collection[];
  maxSnippetChars: number;
  /** Finds a document by its id where the engine tells nothing else. */
  lookUp(docid: string): Promise<DocumentPlace | undefined>;
}

/** A hit with its place; undefined for one of an unknown collection, or whose path leaves it. */
export async function toMemoryHit(hit: EngineHit, options: LocateOptions): Promise<MemoryHit | undefined> {
  const place = placeOf(hit) ?? (hit.docid === undefined ? undefined : await options.lookUp(hit.docid.replace(/^#/, "")));
  const collection = options.collections.find(({ name }) => name === place?.collection);
  if (!place || !collection) return undefined;
  const inCollection = safePath(place.path);
  if (inCollection === undefined) return undefined;
  const real = await realRelativePath(collection.root, inCollection);
  const { startLine, endLine, text } = hitText(hit);
  return {
    path: pathOf(collection, real, options.workspace),
    startLine,
    endLine,
    score: hit.score,
    snippet: cut(text.trim(), options.maxSnippetChars),
    source: collection.source,
  };
}

/** Collection and path by `qmd://<collection>/<path>`. Pure. */
export function placeOf({ file, collection }: Pick<EngineHit, "file" | "collection">): DocumentPlace | undefined {
  if (file === undefined) return undefined;
  const [, named, path] = /^[a-z]+:\/\/([^/]+)\/(.+)$/s.exec(file) ?? [];
  if (named !== undefined && path !== undefined) return { collection: named, path: decoded(path) };
  return collection === undefined || file.includes("://") ? undefined : { collection, path: file };
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A relative path that stays where it is; undefined for any other. Pure. */
export function safePath(path: string): string | undefined {
  if (path === "" || path.includes("\0") || path.startsWith("/") || path.includes("\\")) return undefined;
  const clean = posix.normalize(path);
  return clean === "." || clean === ".." || clean.startsWith("../") ? undefined : clean;
}

/** Path as tools show it: relative to the workspace, or below `sidecar/`. Pure. */
export function pathOf({ name, root }: Pick<Collection, "name" | "root">, path: string, workspace: string): string {
  const absolute = normalize(join(root, path));
  if (!isInside(workspace, absolute)) return `${SIDECAR_ROOT}/${name}/${path}`;
  return relative(workspace, absolute).split(sep).join("/");
}

/** Cuts a snippet between two characters. */
function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = /[\uD800-\uDBFF]/.test(text[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  return text.slice(0, end);
}

/** Takes the hits of the sources in turn, that with the best hit first, so that one does not drown the other. Pure. */
export function interleave<T extends { source: string; score: number }>(hits: readonly T[]): T[] {
  const groups = new Map<string, T[]>();
  for (const hit of [...hits].sort((a, b) => b.score - a.score)) groups.set(hit.source, [...(groups.get(hit.source) ?? []), hit]);
  const lists = [...groups.values()];
  const taken: T[] = [];
  for (let i = 0; taken.length < hits.length; i++) for (const list of lists) if (list[i] !== undefined) taken.push(list[i] as T);
  return taken;
}
