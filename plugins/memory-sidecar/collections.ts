import { resolve, sep } from "node:path";
import { expandPath } from "svc/sdk";

/** A folder, or one file of it, that the engine searches. */
export interface Collection {
  name: string;
  /** Absolute folder. */
  root: string;
  /** Glob pattern of its files. */
  pattern: string;
  source: "memory" | "sessions";
  /** Has the name that the operator gave it, so that other agents may have it too. */
  isShared: boolean;
  /** Its folder is svc's to make. */
  isOwn: boolean;
}

/** A folder of the config. */
export interface FolderEntry {
  path: string;
  name?: string | undefined;
  pattern?: string | undefined;
}

/** Folders of one agent in the order in which they become collections. */
export interface CollectionSources {
  agentId: string;
  /** Absolute. */
  workspace: string;
  includeDefaultMemory: boolean;
  /** `memory.sidecar.paths`. */
  paths: readonly FolderEntry[];
  /** `memorySearch.extraPaths`. */
  extraPaths: readonly string[];
  /** `memorySearch.sidecar.extraCollections`, those of the defaults first. */
  extraCollections: readonly FolderEntry[];
  /** Absolute folder of the exported transcripts; undefined: none are exported. */
  exportDir: string | undefined;
  /** Where transcripts of any agent may be exported: what lies below counts as transcripts. */
  isTranscriptFolder(path: string): boolean;
}

/** Collections of an agent, and the folders of the config that became none. */
export interface ResolvedCollections {
  collections: Collection[];
  skipped: Array<{ path: string; pattern: string; keeps: string }>;
}

const EVERY_NOTE = "**/*.md";

/** Names the collections of one agent and leaves out duplicates: the first entry stays. Pure. */
export function resolveCollections(sources: CollectionSources): ResolvedCollections {
  const { agentId, workspace, paths, extraPaths, extraCollections, exportDir } = sources;
  const list = new CollectionList(agentId);
  if (sources.includeDefaultMemory) {
    list.add("memory-root", { root: workspace, pattern: "MEMORY.md" });
    list.add("memory-alt", { root: workspace, pattern: "memory.md" });
    list.add("memory-dir", { root: resolve(workspace, "memory"), pattern: EVERY_NOTE });
  }
  const folderOf = (entry: FolderEntry) => {
    const root = resolve(expandPath(entry.path.trim(), workspace));
    return { root, pattern: entry.pattern ?? EVERY_NOTE, source: sources.isTranscriptFolder(root) ? ("sessions" as const) : undefined };
  };
  for (const entry of paths) list.addNamed(entry, folderOf(entry), workspace);
  const configured = new Set(paths.map((entry) => folderOf(entry).root));
  for (const path of extraPaths) list.addPath(resolve(expandPath(path.trim(), workspace)));
  for (const entry of extraCollections) {
    const folder = folderOf(entry);
    if (configured.has(folder.root)) list.skip(folder);
    else list.addNamed(entry, folder, workspace);
  }
  if (exportDir !== undefined) list.add("sessions", { root: exportDir, pattern: EVERY_NOTE, source: "sessions" });
  return { collections: list.collections, skipped: list.skipped };
}

interface Folder {
  root: string;
  pattern: string;
  source?: Collection["source"] | undefined;
}

class CollectionList {
  readonly collections: Collection[] = [];
  readonly skipped: ResolvedCollections["skipped"] = [];
  readonly #agentId: string;
  readonly #names = new Set<string>();
  #unnamed = 0;

  constructor(agentId: string) {
    this.#agentId = agentId;
  }

  /** Adds a collection whose name is completed by the agent's id. */
  add(base: string, { root, pattern, source }: Folder, { isShared = false, isOwn = true } = {}): void {
    const twin = this.#find(root, pattern);
    if (twin) return this.skip({ root, pattern });
    const name = this.#free(isShared ? slug(base) : slug(`${base}-${this.#agentId}`));
    this.collections.push({ name, root, pattern, source: source ?? "memory", isShared, isOwn });
  }

  addNamed(entry: FolderEntry, folder: Folder, workspace: string): void {
    const isOutside = folder.root !== workspace && !folder.root.startsWith(workspace + sep);
    const name = slug(entry.name ?? "");
    if (/[a-z0-9]/.test(name)) this.add(name, folder, { isShared: isOutside, isOwn: false });
    else this.add(this.#nextUnnamed(), folder, { isOwn: false });
  }

  /** Adds a folder without a name, or a single Markdown file. */
  addPath(path: string): void {
    const isFile = /\.md$/i.test(path);
    const at = path.lastIndexOf(sep);
    const folder = isFile ? { root: path.slice(0, at) || sep, pattern: path.slice(at + 1) } : { root: path, pattern: EVERY_NOTE };
    this.add(this.#nextUnnamed(), folder, { isOwn: false });
  }

  skip({ root, pattern }: Folder): void {
    const keeps = (this.#find(root, pattern) ?? this.collections.find((one) => one.root === root))?.name ?? "";
    this.skipped.push({ path: root, pattern, keeps });
  }

  #find(root: string, pattern: string): Collection | undefined {
    return this.collections.find((one) => one.root === root && one.pattern === pattern);
  }

  #nextUnnamed(): string {
    this.#unnamed += 1;
    return `custom-${this.#unnamed}`;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let n = 2; this.#names.has(name); n++) name = `${wanted}-${n}`;
    this.#names.add(name);
    return name;
  }
}

/** Form of names that every release of the engine takes. */
function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9-]/g, "-");
}
