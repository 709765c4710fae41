import { join, sep } from "node:path";
import JSON5 from "json5";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import { packageRoot, runsFromDist } from "../process/paths.ts";
import { type DiscoveryHost, type DiscoveryRequest, discover, inspectFolder } from "./discover.ts";

export type Candidate = PluginCandidate;

const host: DiscoveryHost = { bundledRoot: bundledRoot(), codePath, parseText };

/** Finds every plugin of the four roots; nothing is skipped silently. */
export function discoverPlugins(request: DiscoveryRequest): Promise<Candidate[]> {
  return discover(request, host);
}

/** Finds the plugin that would load under one id now; undefined when no root holds it. */
export async function discoverOne(id: string, request: DiscoveryRequest): Promise<Candidate | undefined> {
  return (await discover({ ...request, only: id }, host)).find((c) => c.id === id && c.problem?.code !== "duplicate-id");
}

/** One folder or file as `plugins.load.paths` would find it, whatever the config says. No code is run. */
export function inspectPluginFolder(path: string): Promise<Candidate> {
  return inspectFolder(path, host);
}

/** Every start and many commands read all manifests; most are plain JSON, which the native reader takes in a tenth of the time. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON5.parse(text);
  }
}

/** Root of the bundled plugins' manifests and assets, in both modes. */
export function bundledRoot(): string {
  return join(packageRoot(), "plugins");
}

/** Module file of a bundled plugin: compiled code stands under `dist` with the same path. */
export function codePath(file: string): string {
  const root = packageRoot();
  if (!runsFromDist() || !file.startsWith(bundledRoot() + sep)) return file;
  return join(root, "dist", file.slice(root.length + 1)).replace(/\.ts$/, ".js");
}
