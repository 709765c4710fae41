import { homedir } from "node:os";
import { join } from "node:path";
import type { LocalModelSource } from "svc/sdk";

/** Address of a model file, and the name that it gets here. */
export interface ModelAddress {
  url: URL;
  /** The one that the model library gives it, so that each finds what the other has fetched. */
  fileName: string;
  /** Origin that a token of the hub is for; undefined where the address is not that of the hub. */
  hub: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

const HUB = "https://huggingface.co/";
const BRANCH = "main";
/** A name that no file system refuses and that means nothing but itself. */
const plainName = /^(?!\.)[A-Za-z0-9._-]{1,128}$/;
/** One of several files that are one model. */
const isPartOfMany = /-\d{5}-of-\d{5}\.gguf$/i;

/** Folder of downloaded models where none is configured: that of the model library. */
export function defaultFolder(): string {
  return join(homedir(), ".node-llama-cpp", "models");
}

/**
 * Address of a reference that is one file: `hf:<owner>/<repo>/<path>`, with `#<branch>` where it is not the main one, or an `http(s):` address of a `.gguf` file. Undefined
 * for what only the model library resolves: a repository without a file, a model in several files, unusual names. Pure.
 */
export function modelAddress({ uri }: Extract<LocalModelSource, { kind: "reference" }>, env: Env): ModelAddress | undefined {
  const reference = /^(?:hf|huggingface):(?:\/\/)?(.+)$/i.exec(uri)?.[1];
  return reference === undefined ? plainAddress(uri, env) : hubAddress(reference, env);
}

function hubAddress(reference: string, env: Env): ModelAddress | undefined {
  const [path = "", branch = BRANCH] = reference.split("#");
  const [owner = "", repo = "", ...parts] = path.split("/");
  const file = parts.pop() ?? "";
  if (![owner, repo, branch, ...parts, file].every((name) => plainName.test(name)) || !isSingleGguf(file)) return undefined;
  const endpoint = endpointOf(env);
  const url = new URL([owner, repo, "resolve", branch, ...parts, file].join("/"), endpoint);
  return { url, fileName: hubFileName({ owner, repo, branch, parts, file }), hub: endpoint.origin };
}

/** Name of a file of the hub in the folder of models, as the model library makes it. */
function hubFileName({
  owner,
  repo,
  branch,
  parts,
  file,
}: {
  owner: string;
  repo: string;
  branch: string;
  parts: string[];
  file: string;
}): string {
  const stem = file.slice(0, -".gguf".length).toLowerCase();
  const isOfRepo = repo.toLowerCase().endsWith("-gguf") && stem.startsWith(repo.slice(0, -"-gguf".length).toLowerCase());
  const folders = parts.at(-1)?.toLowerCase() === stem ? parts.slice(0, -1) : parts;
  return [
    "hf",
    owner,
    ...(isOfRepo && branch === BRANCH ? [] : [repo]),
    ...(branch === BRANCH ? [] : [branch]),
    ...(folders.length === 0 ? [] : [folders.join("__")]),
    file,
  ].join("_");
}

function plainAddress(uri: string, env: Env): ModelAddress | undefined {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  const file = url.pathname.split("/").at(-1) ?? "";
  // Pages of the hub are the library's to read.
  if (url.origin === endpointOf(env).origin || !plainName.test(file) || !isSingleGguf(file)) return undefined;
  return { url, fileName: file, hub: undefined };
}

function isSingleGguf(file: string): boolean {
  return file.toLowerCase().endsWith(".gguf") && !isPartOfMany.test(file);
}

function endpointOf({ MODEL_ENDPOINT, HF_ENDPOINT }: Env): URL {
  const named = [MODEL_ENDPOINT, HF_ENDPOINT].find((text) => text !== undefined && URL.canParse(text)) ?? HUB;
  return new URL(named.endsWith("/") ? named : `${named}/`);
}
