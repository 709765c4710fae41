import { dirname, join } from "node:path/posix";
import { type ImportOf, importsOf, packageOf } from "./imports.ts";

/** Packages that the kernel may import; each has its reason in `kernel/adr`. */
export const kernelPackages = new Set([
  "tapable",
  "jiti",
  "h3",
  "listhen",
  "ws",
  "zod",
  "json5",
  "croner",
  "semver",
  "undici",
  "picocolors",
  "@humanwhocodes/momoa",
  "clipanion",
]);

/**
 * Rooms of the kernel in the order of their directions: which rooms each may import, types included. Files beside the rooms are the entry of the program,
 * which may import all, and the errors, which import none.
 */
export const kernelRooms: Record<string, readonly string[]> = {
  process: [],
  hooks: [],
  sandbox: ["process"],
  secrets: ["process"],
  auth: ["process"],
  operations: ["process", "hooks"],
  config: ["process", "hooks", "sandbox", "secrets", "auth", "operations"],
  loader: ["process", "hooks", "sandbox", "secrets", "operations", "config"],
  port: ["process", "hooks", "secrets", "auth", "operations", "config", "loader"],
  boot: ["process", "hooks", "sandbox", "secrets", "auth", "operations", "config", "loader", "port"],
  cli: ["process", "sandbox", "auth", "operations", "config", "loader", "port", "boot"],
};

/** Packages that only one room of the kernel may import. */
const roomPackages: Record<string, string> = { clipanion: "kernel/cli/", listhen: "kernel/port/", undici: "kernel/process/" };

/** Vendor packages, one owner each. A plugin that is not listed has none. */
export const pluginPackages: Record<string, readonly string[]> = {
  store: ["better-sqlite3"],
  "memory-core": ["better-sqlite3", "sqlite-vec"],
  // Reads the database of the engine that it runs.
  "memory-sidecar": ["better-sqlite3"],
  cron: ["croner"],
  "embed-bedrock": ["@aws-sdk/client-bedrock-runtime"],
  "local-runtime": ["node-llama-cpp"],
  "plugin-manager": ["tar"],
  messaging: ["uqr"],
  "model-anthropic": ["@ai-sdk/anthropic"],
  "model-google": ["@ai-sdk/google"],
  "model-openai": ["@ai-sdk/openai"],
  "model-openai-compatible": ["@ai-sdk/openai-compatible", "@ai-sdk/provider-utils", "eventsource-parser"],
  "tools-web": ["defuddle/node", "linkedom"],
  "control-ui": ["preact", "preact/hooks", "htm", "@preact/signals", "@preact/signals-core", "marked", "uplot", "uqr"],
};

/** Packages that more than one plugin may name: an engine of which each has a database of its own, and the QR codes of a terminal and of a page. */
export const sharedPackages = new Set(["better-sqlite3", "uqr"]);

const published = new Set(["svc/sdk", "svc/sdk/testing", "svc/sdk/client"]);
const testPackages = new Set([
  "vitest",
  "fast-check",
  "openai",
  "playwright-core",
  "axe-core",
  "standardwebhooks",
  "@octokit/webhooks-methods",
  "stripe",
]);
/** Shared by the plugins of this repository alone; an example shows what others can do. */
const internal = "svc/sdk/internal";
const isTestFile = (path: string) => path.endsWith(".test.ts");

export interface Violation {
  file: string;
  specifier: string;
  rule: string;
}

/** Modules by repository path with what they import. */
export type ModuleGraph = Map<string, ImportOf[]>;

export function graphOf(files: Map<string, string>): ModuleGraph {
  return new Map([...files].map(([path, source]) => [path, importsOf(source)]));
}

/** Repository path of a relative specifier. */
export function targetOf(file: string, specifier: string): string {
  return join(dirname(file), specifier);
}

/** Every import that points the wrong way (style: "Direction of dependencies"). */
export function boundaryViolations(graph: ModuleGraph): Violation[] {
  const found: Violation[] = [];
  for (const [file, imports] of graph) {
    for (const one of imports) {
      const rule = ruleBroken(file, one);
      if (rule) found.push({ file, specifier: one.specifier, rule });
    }
  }
  return found;
}

function ruleBroken(file: string, one: ImportOf): string | undefined {
  const specifier = one.specifier;
  if (specifier.startsWith("node:")) return undefined;
  if (isTestFile(file) && testPackages.has(packageOf(specifier))) return undefined;
  const target = specifier.startsWith(".") ? targetOf(file, specifier) : undefined;
  if (file.startsWith("kernel/")) return kernelRule(file, specifier, target);
  if (file.startsWith("sdk/")) return sdkRule(file, one, target);
  if (file.startsWith("plugins/")) return pluginRule(file, specifier, target);
  if (file.startsWith("examples/")) return exampleRule(file, specifier, target);
  return undefined;
}

function kernelRule(file: string, specifier: string, target: string | undefined): string | undefined {
  if (target !== undefined) {
    if (target.startsWith("sdk/") || (isTestFile(file) && target.startsWith("test/"))) return undefined;
    if (!target.startsWith("kernel/")) return "the kernel imports only itself and the sdk";
    return isTestFile(file) ? undefined : roomRule(roomOf(file), roomOf(target));
  }
  const name = packageOf(specifier);
  if (isTestFile(file) && (published.has(name) || name === internal)) return undefined;
  // The loader hands plugins the object that the published name stands for; by a path it could be another copy.
  if ((name === "svc/sdk" || name === internal) && file === "kernel/loader/import.ts") return undefined;
  if (!kernelPackages.has(name)) return "not on the kernel's list of packages";
  const room = roomPackages[name];
  if (room !== undefined && !file.startsWith(room)) return `only ${room} imports ${name}`;
  return undefined;
}

/** Room of a file of the kernel; undefined beside the rooms. */
export function roomOf(file: string): string | undefined {
  const [, room, inside] = file.split("/");
  return inside === undefined ? undefined : room;
}

function roomRule(from: string | undefined, to: string | undefined): string | undefined {
  if (from === to || from === undefined || to === undefined) return undefined;
  const allowed = kernelRooms[from];
  if (!allowed) return `"${from}" is no room of the kernel`;
  return allowed.includes(to) ? undefined : `kernel/${from} does not import kernel/${to}`;
}

function sdkRule(file: string, one: ImportOf, target: string | undefined): string | undefined {
  if (target !== undefined) {
    if (file.startsWith("sdk/types/") && !one.typeOnly) return "sdk/types holds types only";
    if (target.startsWith("sdk/internal/") && !file.startsWith("sdk/internal/") && !isTestFile(file))
      return "the contract imports nothing of sdk/internal";
    if (target.startsWith("sdk/")) return undefined;
    if (file.startsWith("sdk/testing/") && (target.startsWith("kernel/") || target.startsWith("test/"))) return undefined;
    if (isTestFile(file) && (target.startsWith("test/") || target.startsWith("kernel/"))) return undefined;
    return "the sdk imports neither kernel nor plugins";
  }
  const name = packageOf(one.specifier);
  if (isTestFile(file) && (published.has(name) || name === internal || name === "ws" || name === "zod")) return undefined;
  if (file.startsWith("sdk/types/")) return "sdk/types imports nothing";
  if (file.startsWith("sdk/client/")) return name === "ws" ? undefined : "sdk/client imports ws only";
  if (file.startsWith("sdk/testing/") && name === "vitest") return undefined;
  return name === "zod" ? undefined : "the sdk imports zod and node: only";
}

function pluginRule(file: string, specifier: string, target: string | undefined): string | undefined {
  const id = file.split("/")[1] as string;
  if (target !== undefined) {
    if (target.startsWith(`plugins/${id}/`)) return undefined;
    if (isTestFile(file) && /^test\/(fakes|fixtures|servers|tools)\//.test(target)) return undefined;
    return target.startsWith("plugins/") ? "a plugin never imports another" : "a plugin imports svc/sdk, never the tree";
  }
  const name = packageOf(specifier);
  if (name === "svc/sdk" || name === internal || name === "svc/sdk/client") return undefined;
  // The author's commands run the author's suites.
  if (name === "svc/sdk/testing") return isTestFile(file) || id === "authoring" ? undefined : "svc/sdk/testing is for tests";
  if (isTestFile(file) && (name === "zod" || name === "ws")) return undefined;
  const own = pluginPackages[id] ?? [];
  return own.includes(name) || own.includes(specifier) ? undefined : `not a vendor package of plugin "${id}"`;
}

function exampleRule(file: string, specifier: string, target: string | undefined): string | undefined {
  if (target !== undefined) {
    const own = file.split("/").slice(0, 2).join("/");
    return target.startsWith(`${own}/`) || target === own ? undefined : "an example imports only its own files and published names";
  }
  return published.has(specifier) ? undefined : "an example imports only published names";
}

/** Cycles of imports, types included, each once, as paths from a module back to itself. */
export function importCycles(graph: ModuleGraph): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at !== -1) {
      cycles.push([...path.slice(at), file]);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const next of targetsOf(graph, file)) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}

/** Files that a module needs when it is loaded. */
export function valueTargets(graph: ModuleGraph, file: string): string[] {
  return targetsOf(graph, file, (one) => !one.typeOnly && !one.dynamic);
}

/** Files that a module names by a relative import. */
function targetsOf(graph: ModuleGraph, file: string, isWanted: (one: ImportOf) => boolean = () => true): string[] {
  return (graph.get(file) ?? [])
    .filter((one) => one.specifier.startsWith(".") && isWanted(one))
    .map((one) => targetOf(file, one.specifier))
    .filter((target) => graph.has(target));
}

/** Everything reachable by value imports, the start included. */
export function closureOf(graph: ModuleGraph, start: string): Set<string> {
  const seen = new Set<string>();
  const queue = [start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...valueTargets(graph, next));
  }
  return seen;
}
