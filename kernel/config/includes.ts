import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import type { ConfigIssue } from "../../sdk/config/config-issue.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { type ConfigText, decodeConfig, parseConfigText, readConfigText, withLinkTarget } from "./config-file.ts";
import type { ConfigFile } from "./loaded.ts";
import { locator } from "./locate.ts";
import { marked, type OriginNode } from "./origin.ts";

const MAX_DEPTH = 10;
/** Inclusions in all, so that files that include each other many times end. */
const MAX_INCLUDES = 256;
/** Texts of all inclusions; one file counts each time, for it is merged each time. */
const MAX_INCLUDED_CHARS = 16 * 1024 * 1024;
const MAX_PATH_CHARS = 4096;

/** Options for reading a config with its includes, besides the path. */
export interface IncludeOptions {
  /** Folders besides that of the main file from which may be included; absolute. */
  roots: readonly string[];
  /** Contents that stand in for files, by absolute path: a candidate that is not on disk yet. */
  overlay?: ReadonlyMap<string, string> | undefined;
}

/** A config as its files say, includes in place of their directives. */
export interface SourceTree {
  exists: boolean;
  files: ConfigFile[];
  /** Bytes of the files, in the same order. */
  bytes: Uint8Array[];
  watched: string[];
  authored: unknown;
  /** Undefined exactly when there are issues. */
  source: unknown;
  origin: OriginNode;
  issues: ConfigIssue[];
}

/** One step of the way from the main file to an included one. */
interface Step {
  path: string;
  real: string;
}

/** Position of the walk in the files. */
interface Here {
  /** From the main file to this one. */
  chain: readonly Step[];
  file: string;
  text: string;
  path: Array<string | number>;
}

/**
 * Reads a config file and everything it includes. Never throws for what is in the files: every problem of the includes is an issue that
 * names the chain of files.
 */
export async function readSourceTree(path: string, options: IncludeOptions): Promise<SourceTree> {
  return new TreeReader(path, options).read();
}

class TreeReader {
  readonly #main: string;
  readonly #options: IncludeOptions;
  readonly #files = new Map<string, { file: ConfigFile; bytes: Uint8Array }>();
  readonly #parsed = new Map<string, unknown>();
  readonly #watched = new Set<string>();
  readonly #issues: ConfigIssue[] = [];
  #included = 0;
  #chars = 0;
  #allowed: string[] | undefined;

  constructor(path: string, options: IncludeOptions) {
    this.#main = path;
    this.#options = options;
  }

  async read(): Promise<SourceTree> {
    const origin: OriginNode = { file: this.#main, path: [], via: "file" };
    for (const watched of await withLinkTarget(this.#main)) this.#watched.add(watched);
    const read = await this.#text(this.#main);
    if ("missing" in read) return this.#result({ value: {}, origin }, { exists: false, authored: {} });
    const authored = this.#parse(this.#main, read);
    if (authored === undefined || "issue" in read) return this.#result({ value: undefined, origin }, { exists: true, authored });
    const real = await realpath(this.#main).catch(() => this.#main);
    const piece = await this.#walk(authored, { chain: [{ path: this.#main, real }], file: this.#main, text: read.text, path: [] });
    return this.#result(piece, { exists: true, authored });
  }

  #result(piece: Piece, main: { exists: boolean; authored: unknown }): SourceTree {
    const read = [...this.#files.values()];
    return {
      ...main,
      files: read.map(({ file }) => file),
      bytes: read.map(({ bytes }) => bytes),
      watched: [...this.#watched],
      source: this.#issues.length === 0 ? piece.value : undefined,
      origin: piece.origin,
      issues: this.#issues,
    };
  }

  async #walk(value: unknown, here: Here): Promise<Piece> {
    const own: OriginNode = { file: here.file, path: here.path, via: "file" };
    if (typeof value !== "object" || value === null) return { value, origin: own };
    if (Array.isArray(value)) {
      const { values, origin } = await this.#inner([...value.entries()], here, own);
      return { value: values, origin };
    }
    const { $include: directive, ...members } = value as Record<string, unknown>;
    const { values, origin } = await this.#inner(Object.entries(members), here, own);
    const rest: Piece = { value: Object.fromEntries(Object.keys(members).map((key, i) => [key, values[i]])), origin };
    if (!Object.hasOwn(value, "$include")) return rest;
    const included = await this.#include(directive, { ...here, path: [...here.path, "$include"] });
    if (!included || values.length === 0) return included ?? rest;
    if (typeof included.value === "object" && included.value !== null && !Array.isArray(included.value)) {
      return mergePieces(included, rest, "override");
    }
    return this.#refuse(here, "an $include beside other keys must include an object") ?? rest;
  }

  /** Walks what an object or an array holds, in order: one inclusion at a time, so that issues and files have an order. */
  async #inner(entries: ReadonlyArray<readonly [string | number, unknown]>, here: Here, own: OriginNode) {
    const values: unknown[] = [];
    const children = new Map<string, OriginNode>();
    for (const [key, inner] of entries) {
      const { value, origin } = await this.#walk(inner, { ...here, path: [...here.path, key] });
      values.push(value);
      if (origin.file !== own.file || origin.via !== "file" || origin.children) children.set(String(key), origin);
    }
    return { values, origin: children.size > 0 ? { ...own, children } : own };
  }

  async #include(directive: unknown, at: Here): Promise<Piece | undefined> {
    if (typeof directive === "string") return this.#one(directive, at);
    const isList = Array.isArray(directive) && directive.length > 0 && directive.every((item) => typeof item === "string");
    if (!isList) return this.#refuse(at, "$include: expected a path or a non-empty list of paths");
    let merged: Piece | undefined;
    for (const [i, path] of (directive as string[]).entries()) {
      const piece = await this.#one(path, { ...at, path: [...at.path, i] });
      if (!piece) continue;
      const next = { value: piece.value, origin: marked(piece.origin, "array") };
      merged = merged ? mergePieces(merged, next, "array") : next;
    }
    return merged;
  }

  async #one(named: string, here: Here): Promise<Piece | undefined> {
    const path = named.includes("\0") ? "" : resolve(dirname(here.file), named);
    const problem = badPath(named, path);
    if (problem) return this.#refuse(here, `$include: ${problem}`);
    const subject = `$include "${named}"`;
    if (here.chain.length > MAX_DEPTH) return this.#refuse(here, `${subject}: more than ${MAX_DEPTH} files deep`, path);
    this.#included += 1;
    if (this.#included > MAX_INCLUDES) return this.#refuse(here, `${subject}: more than ${MAX_INCLUDES} inclusions`, path);
    for (const watched of await withLinkTarget(path)) this.#watched.add(watched);
    const real = await this.#real(path);
    if (here.chain.some((step) => step.real === real || step.path === path)) return this.#refuse(here, `${subject}: includes itself`, path);
    if (real !== undefined && !(await this.#isAllowed(real))) {
      const where = "the folder of the config file, or a folder of SVC_INCLUDE_ROOTS";
      return this.#refuse(here, `${subject}: lies outside of the allowed folders; expected ${where}`, path);
    }
    const read = real === undefined ? ({ missing: true } as const) : await this.#text(path, real);
    if ("missing" in read) return this.#refuse(here, `${subject}: there is no such file`, path);
    this.#chars += "issue" in read ? 0 : read.text.length;
    if (this.#chars > MAX_INCLUDED_CHARS)
      return this.#refuse(here, `${subject}: more than ${MAX_INCLUDED_CHARS} characters included in all`, path);
    const chain = [...here.chain, { path, real: real ?? path }];
    const known = this.#issues.length;
    const value = this.#parse(path, read);
    if (value === undefined || "issue" in read) {
      const issue = this.#issues[known];
      if (issue) issue.message += ` (${this.#chain(chain)})`;
      return undefined;
    }
    return this.#walk(value, { chain, file: path, text: read.text, path: [] });
  }

  /** Content of a file, read once; also when it is included from several places. `judged`: where it really is, as it was allowed. */
  async #text(path: string, judged?: string): Promise<ConfigText> {
    const known = this.#files.get(path);
    if (known) return { ...known.file, bytes: known.bytes };
    const name = this.#name(path);
    const candidate = this.#options.overlay?.get(path);
    const read =
      candidate === undefined
        ? await readConfigText(judged ?? path, name, { followLink: judged === undefined })
        : decodeConfig(Buffer.from(candidate), name);
    if ("text" in read) this.#files.set(path, { file: { path, text: read.text, bom: read.bom }, bytes: read.bytes });
    return read;
  }

  #parse(path: string, read: Exclude<ConfigText, { missing: true }>): unknown {
    const known = this.#parsed.get(path);
    if (known !== undefined) return known;
    const { value, issue } = "issue" in read ? { issue: read.issue } : parseConfigText(read.text, this.#name(path));
    if (issue) this.#issues.push(issue);
    else this.#parsed.set(path, value);
    return issue ? undefined : value;
  }

  async #real(path: string): Promise<string | undefined> {
    return realpath(path).catch(() => (this.#options.overlay?.has(path) ? path : undefined));
  }

  /** Judged by where links lead, so that no link inside the folder leads out of it. */
  async #isAllowed(real: string): Promise<boolean> {
    this.#allowed ??= await Promise.all(
      [dirname(this.#main), ...this.#options.roots].map((root) => realpath(root).catch(() => resolve(root))),
    );
    return this.#allowed.some((root) => real.startsWith(root.endsWith(sep) ? root : root + sep));
  }

  #refuse(here: Here, message: string, target?: string): undefined {
    const chain = target === undefined ? here.chain : [...here.chain, { path: target, real: target }];
    this.#issues.push({
      path: here.path.join("."),
      code: "include",
      message: `${message} (${this.#chain(chain)})`,
      file: this.#name(here.file),
      ...locator(here.text)(here.path),
    });
    return undefined;
  }

  #chain(chain: readonly Step[]): string {
    return chain.map((step) => this.#name(step.path)).join(" → ");
  }

  #name(path: string): string {
    return configFileName(this.#main, path);
  }
}

/** Name of a config file in messages: relative to the main file's folder, absolute when it lies elsewhere. */
export function configFileName(main: string, path: string): string {
  const name = relative(dirname(main), path);
  return name.startsWith("..") || isAbsolute(name) ? path : name.split(sep).join("/");
}

function badPath(named: string, path: string): string | undefined {
  if (named === "") return "expected a path, got an empty text";
  if (named.includes("\0")) return "the path holds a NUL character";
  const length = Math.max(named.length, path.length);
  return length >= MAX_PATH_CHARS ? `the path has ${length} characters; expected fewer than ${MAX_PATH_CHARS}` : undefined;
}

/** A value with the place it was written in. */
export interface Piece {
  value: unknown;
  origin: OriginNode;
}

/**
 * Lays one value over another: objects merge key by key, everything else replaces. What replaces something is marked as come `via`; what
 * only one side has keeps its own mark.
 */
export function mergePieces(base: Piece, over: Piece, via: "array" | "override"): Piece {
  if (!isRecord(base.value) || !isRecord(over.value)) return { value: over.value, origin: marked(over.origin, via) };
  const value: Record<string, unknown> = { ...base.value };
  const children = new Map<string, OriginNode>(base.origin.children);
  for (const [key, inner] of Object.entries(over.value)) {
    const next: Piece = { value: inner, origin: childOf(over.origin, key) };
    const merged = Object.hasOwn(base.value, key)
      ? mergePieces({ value: base.value[key], origin: childOf(base.origin, key) }, next, via)
      : next;
    value[key] = merged.value;
    children.set(key, merged.origin);
  }
  return { value, origin: { ...base.origin, children } };
}

function childOf(node: OriginNode, key: string): OriginNode {
  return node.children?.get(key) ?? { file: node.file, path: [...node.path, key], via: node.via };
}
