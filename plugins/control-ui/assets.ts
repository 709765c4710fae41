import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { errors } from "./errors.ts";

/** Source of the served files; `path` is what follows `<base>assets/<buildId>/`. */
export type AssetSource =
  | { kind: "folder"; path: string; folder: string; skip?: readonly string[] }
  /** All of `files`, one after the other. */
  | { kind: "joined"; path: string; files: readonly string[] }
  /** The first existing one of `candidates` is served as `path`, with `end` after it. */
  | { kind: "file"; path: string; candidates: readonly string[]; end?: string };

export type Encoding = "br" | "gzip" | "identity";

export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
  /** Compressed at first demand in the thread pool, then kept for every instance of the plugin. */
  body(encoding: Encoding): Promise<Uint8Array>;
}

export interface Assets {
  /** Changes when any name or content changes. */
  readonly buildId: string;
  get(path: string): Asset | undefined;
  readonly paths: readonly string[];
}

/** Only these are ever served; a type missing here is a file that stays private. */
const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Reads every servable file into memory; requests only look names up in the result, no path of a request reaches the file system.
 * @throws {SvcError} `ui-files-missing`
 */
export async function loadAssets(sources: readonly AssetSource[]): Promise<Assets> {
  const found = (await Promise.all(sources.map(readSource))).flat();
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  const hash = createHash("sha256");
  for (const file of found) hash.update(`${file.path}\0${file.text}\0`);
  const files = new Map(found.map((file) => [file.path, toAsset(file)]));
  return { buildId: hash.digest("base64url").slice(0, 12), get: (path) => files.get(path), paths: [...files.keys()] };
}

interface Raw {
  path: string;
  text: string;
}

async function readSource(source: AssetSource): Promise<Raw[]> {
  if (source.kind === "folder") return readFolder(source);
  return [source.kind === "joined" ? await readJoined(source) : await readFirst(source)];
}

async function readFolder(source: Extract<AssetSource, { kind: "folder" }>): Promise<Raw[]> {
  const entries = await readdir(source.folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((e) => e.isFile() && extname(e.name) in contentTypes)
    .map((e) => join(e.parentPath, e.name).slice(source.folder.length + 1))
    .filter((name) => !source.skip?.includes(name));
  if (names.length === 0) throw errors.uiFilesMissing({ file: source.path || "public" });
  return Promise.all(
    names.map(async (name) => ({
      path: posix.join(source.path, name.replaceAll("\\", "/")),
      text: clean(await readFile(join(source.folder, name), "utf8")),
    })),
  );
}

async function readFirst(source: Extract<AssetSource, { kind: "file" }>): Promise<Raw> {
  for (const candidate of source.candidates) {
    const text = await readFile(candidate, "utf8").catch(() => undefined);
    if (text !== undefined) return { path: source.path, text: `${clean(text)}${source.end ?? ""}` };
  }
  throw errors.uiFilesMissing({ file: source.path });
}

async function readJoined(source: Extract<AssetSource, { kind: "joined" }>): Promise<Raw> {
  const texts = await Promise.all(source.files.map((file) => readFile(file, "utf8").catch(() => undefined)));
  const missing = texts.indexOf(undefined);
  if (missing >= 0) throw errors.uiFilesMissing({ file: source.files[missing]?.split("/").at(-1) });
  return { path: source.path, text: texts.join("\n") };
}

/** Source maps are not served, so nothing may point to them. */
function clean(text: string): string {
  return text.replace(/\n?\/\/# sourceMappingURL=[^\n]*\s*$/, "\n");
}

/** More than the page has files in all encodings. */
const MAX_PACKED = 1_000;
/**
 * Compressed files by encoding and content, for the whole process: a plugin that starts again, after a change of its config or in the next gateway of a test, serves the same
 * files, and compressing those of a first load takes most of a second.
 */
const packedFiles = new Map<string, Promise<Uint8Array>>();

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

function toAsset(file: Raw): Asset {
  const plain = Buffer.from(file.text);
  const hash = createHash("sha256").update(plain).digest("base64");
  return {
    path: file.path,
    type: contentTypes[extname(file.path)] ?? "application/octet-stream",
    text: file.text,
    body: async (encoding) => (encoding === "identity" ? plain : packOnce(plain, hash, encoding)),
  };
}

function packOnce(bytes: Uint8Array, hash: string, encoding: Exclude<Encoding, "identity">): Promise<Uint8Array> {
  const key = `${encoding} ${hash}`;
  const known = packedFiles.get(key);
  if (known) return known;
  const [oldest] = packedFiles.keys();
  if (packedFiles.size >= MAX_PACKED && oldest !== undefined) packedFiles.delete(oldest);
  const made = pack(bytes, encoding);
  packedFiles.set(key, made);
  return made;
}

/** Compressed bytes; the work happens in the thread pool. */
export function pack(bytes: Uint8Array, encoding: Exclude<Encoding, "identity">): Promise<Uint8Array> {
  if (encoding === "gzip") return compress.gzip(bytes, { level: 9 });
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return compress.br(bytes, { params });
}
