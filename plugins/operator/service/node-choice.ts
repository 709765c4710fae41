import type { ServicePlatform } from "./definition.ts";

/** Oldest Node that runs svc. */
export const NODE_FLOOR = "20.19.0";

/** Places of Node that stay where they are when it is updated. */
export const stableNodes: Readonly<Record<ServicePlatform, readonly string[]>> = {
  linux: ["/usr/local/bin/node", "/usr/bin/node"],
  darwin: ["/opt/homebrew/bin/node", "/usr/local/bin/node", "/usr/bin/node"],
  win32: ["C:\\Program Files\\nodejs\\node.exe"],
};

/** Names below the home behind which version managers keep the version in use. */
const aliases = [".nvm/current/bin/node", ".local/share/fnm/aliases/default/bin/node", ".fnm/aliases/default/bin/node", ".volta/bin/node"];

/** Candidates for the node of a service, best first. */
export interface NodeQuestion {
  platform: ServicePlatform;
  home: string;
  /** `--node`. */
  asked: string | undefined;
  /** Of the last installation. */
  recorded: string | undefined;
  /** Node that runs this command. */
  own: string;
  /** Version of the program at a path; undefined when it does not run. */
  versionOf(path: string): Promise<string | undefined>;
}

export type NodeChoice =
  | { path: string; warning?: string }
  /** The one that `--node` names cannot be used. */
  | { problem: string; path: string };

/**
 * Chooses the node of a service: the one asked for, the one of the last installation, a stable place of the system, the one that runs this command. Never resolves
 * links: behind a stable name stands a folder with a version in it, which the next update removes.
 */
export async function chooseNode({ platform, home, asked, recorded, own, versionOf }: NodeQuestion): Promise<NodeChoice> {
  const isUsable = async (path: string) => isSupported(await versionOf(path));
  if (asked !== undefined) {
    const version = await versionOf(asked);
    if (isSupported(version)) return { path: asked };
    return { path: asked, problem: version === undefined ? "it does not run, or is not Node" : `it is version ${version}` };
  }
  for (const path of [recorded, ...stableNodes[platform]]) if (path !== undefined && (await isUsable(path))) return { path };
  if (!isVersioned(own)) return { path: own };
  for (const alias of aliases.map((path) => `${home}/${path}`)) if (await isUsable(alias)) return { path: alias };
  return {
    path: own,
    warning: `${own} belongs to a version manager and goes when that version does; install Node for the whole system, or name a stable path with --node`,
  };
}

/** True for `20.19.0` and newer. */
export function isSupported(version: string | undefined): boolean {
  const parts = version?.replace(/^v/, "").split(".").map(Number) ?? [];
  const floor = NODE_FLOOR.split(".").map(Number);
  if (parts.length < 3 || parts.some((part) => !Number.isInteger(part))) return false;
  const at = floor.findIndex((part, i) => part !== parts[i]);
  return at === -1 || (parts[at] as number) > (floor[at] as number);
}

/** Does this path lie in the folder of a version manager? */
export function isVersioned(path: string): boolean {
  return /[\\/](?:\.nvm|\.fnm|fnm_multishells|\.volta|\.asdf|\.nodenv|\.n|\.mise|mise|\.local[\\/]share[\\/](?:fnm|mise|rtx))[\\/]|[\\/]Cellar[\\/]|[\\/]nvm[\\/]/.test(
    path,
  );
}
