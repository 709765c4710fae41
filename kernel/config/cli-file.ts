import { createCliConfigFile } from "../../sdk/config/cli-file.ts";
import type { Env, ProfilePaths } from "../../sdk/host/paths.ts";
import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { createConfigHost } from "./methods.ts";

/** A profile's config file, for a command. */
export function openConfigFile(
  { paths, env }: { paths: ProfilePaths; env: Env },
  found: { manifests(): Promise<Manifest[]>; onWrite(): void },
): CliConfigFile {
  const host = createConfigHost({ path: paths.configPath, env, manifests: found.manifests });
  // A start may write what is missing; a check may not.
  const checked = { ...env, SVC_CONFIG_READONLY: "1" };
  const checkStart = async () => (await import("../start.ts")).planStart({ paths, env: checked, flags: { port: 0 }, listen: true });
  return createCliConfigFile({ ...found, host, checkStart });
}
