import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { lastGoodPath } from "../config/backups.ts";
import { type LoadOptions, loadConfig } from "../config/load.ts";
import type { LoadedConfig } from "../config/loaded.ts";

/** The config that a command goes by, and what is wrong with the file when it is not that of the file. */
export interface UsableConfig {
  loaded: LoadedConfig;
  /** One line for the operator; undefined: the file can be read. */
  problem?: string;
}

/**
 * Reads a config, or the last one that a gateway became ready with when the file does not parse: a slip of the editor must not keep the operator
 * away from the gateway that runs. A file that parses is the one that counts, whatever its schema says.
 */
export async function loadUsable(path: string, options: Pick<LoadOptions, "env" | "secrets">): Promise<UsableConfig> {
  const loaded = await loadConfig(path, options);
  const [issue] = loaded.issues;
  if (loaded.source !== undefined || !issue) return { loaded };
  const lastGood = lastGoodPath(path);
  const text = readIfThere(lastGood);
  const instead = text === undefined ? undefined : await loadConfig(path, { ...options, overlay: new Map([[path, text]]) });
  const isUsed = instead?.source !== undefined;
  const remedy = isUsed ? `${basename(lastGood)} is used for address and token` : "its address and token are not known";
  return { loaded: isUsed ? instead : loaded, problem: `${formatIssue(issue)}; ${remedy}; repair the file, see svc config validate` };
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
