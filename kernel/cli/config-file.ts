import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { createConfigHost } from "../config/config-host.ts";
import type { ProfilePaths } from "../process/paths.ts";
import { createCliConfigFile } from "./config-file-for-cli.ts";

/** A profile's config file, for a command. */
export function openConfigFile(
  { paths, env }: { paths: ProfilePaths; env: Env },
  found: { manifests(): Promise<Manifest[]>; onWrite(): void },
): CliConfigFile {
  const host = createConfigHost({ path: paths.configPath, env, stateDir: paths.stateDir, manifests: found.manifests });
  const checkStart = async () => (await import("../boot/start-plan.ts")).checkNextStart({ paths, env });
  return createCliConfigFile({ ...found, host, checkStart });
}
