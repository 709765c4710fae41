import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { permissions } from "../../kernel/loader/manifest.ts";
import { packageRoot } from "../../kernel/process/paths.ts";
import type { SvcConfigInput } from "../config/root.ts";

/** Secret of every test gateway that configures none. */
export const TEST_TOKEN = "test-token-5f2d9a";

type Entries = NonNullable<NonNullable<SvcConfigInput["plugins"]>["entries"]>;

/** Parts of the config of a test gateway. */
export interface TestConfigParts {
  config: SvcConfigInput;
  /** Bundled plugins to run; undefined = as their manifests say. */
  bundled: readonly string[] | undefined;
  /** Absolute folders of others. */
  folders: readonly string[];
  /** Ids of plugins that stand in the test; they get every permission. */
  inline: readonly string[];
  inlinePaths: readonly string[];
}

/** The config file of a test gateway: the test's own config over what makes it run by itself. */
export async function testConfig(parts: TestConfigParts): Promise<SvcConfigInput> {
  const { config } = parts;
  const entries: Entries = {};
  if (parts.bundled) for (const id of await bundledIds()) entries[id] = { enabled: parts.bundled.includes(id) };
  for (const id of parts.inline) entries[id] = { enabled: true, grants: [...permissions] };
  for (const [id, entry] of Object.entries(config.plugins?.entries ?? {})) entries[id] = { ...entries[id], ...entry };
  return {
    ...config,
    gateway: { mode: "local", ...config.gateway, auth: config.gateway?.auth ?? { token: TEST_TOKEN } },
    plugins: {
      ...config.plugins,
      entries,
      load: { paths: [...parts.folders, ...parts.inlinePaths, ...(config.plugins?.load?.paths ?? [])] },
    },
  };
}

async function bundledIds(): Promise<string[]> {
  const entries = await readdir(join(packageRoot(), "plugins"), { withFileTypes: true });
  return entries.filter((e) => e.isDirectory()).map((e) => e.name);
}
