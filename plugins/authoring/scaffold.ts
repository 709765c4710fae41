import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { SDK_API_VERSION } from "svc/sdk";
import { hostFolder } from "./host-link.ts";
import { type Kind, kindSpecs, type Names, namesOf } from "./kinds.ts";

export interface ScaffoldFile {
  /** Relative, with `/`. */
  path: string;
  text: string;
}

/** Names used in the examples, and their replacements. */
const exampleNames: Readonly<Record<"channel" | "embedding", (names: Names) => ReadonlyArray<readonly [string, string]>>> = {
  channel: ({ id, kindId, name }) => [
    ["channel-lines", id],
    ['"lines"', JSON.stringify(kindId)],
    ["channels.lines", `channels.${kindId}`],
    ["channel:lines", `channel:${kindId}`],
    ['"Lines"', JSON.stringify(name)],
  ],
  embedding: ({ id, kindId, name }) => [
    ["embed-hashing", id],
    ['"hashing"', JSON.stringify(kindId)],
    ["embedding:hashing", `embedding:${kindId}`],
    ['"Hashing embeddings"', JSON.stringify(name)],
  ],
};

/**
 * Files of a new plugin.
 * @param options.packageRoot folder of the installed product, which holds the templates and the examples
 */
export async function scaffold(options: { id: string; kind: Kind; packageRoot: string; version: string }): Promise<ScaffoldFile[]> {
  const { kind, packageRoot, version } = options;
  const spec = kindSpecs[kind];
  const names = namesOf(options.id);
  const fields = {
    ...names,
    version,
    api: SDK_API_VERSION,
    purpose: spec.purpose,
    permissions: spec.permissions,
    packageRoot: JSON.stringify(hostFolder(packageRoot)).slice(1, -1),
  };
  const common = await readFiles(join(packageRoot, "plugins/authoring/templates/common"));
  const own = await readFiles(join(packageRoot, spec.from));
  const replaced =
    kind === "channel" || kind === "embedding"
      ? own.filter((f) => f.path !== "README.md").map((f) => ({ ...f, text: replaceAll(f.text, exampleNames[kind](names)) }))
      : fill(own, fields);
  return [...fill(common, fields), ...replaced].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function fill(files: readonly ScaffoldFile[], fields: Readonly<Record<string, string>>): ScaffoldFile[] {
  return files.map(({ path, text }) => ({
    path: path.replace(/\.tmpl$/, "").replace(/^(gitignore|npmrc)$/, ".$1"),
    text: text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => fields[name] ?? whole),
  }));
}

function replaceAll(text: string, names: ReadonlyArray<readonly [string, string]>): string {
  return names.reduce((sofar, [from, to]) => sofar.replaceAll(from, to), text);
}

async function readFiles(folder: string, below = ""): Promise<ScaffoldFile[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return basename(path) === "node_modules" ? [] : readFiles(folder, path);
      return [{ path, text: await readFile(join(folder, path), "utf8") }];
    }),
  );
  return lists.flat();
}
