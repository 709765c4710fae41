import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Can npm reach its registry, or is what it would ask for in its cache? */
export function isRegistryThere(): Promise<boolean> {
  return promisify(execFile)("npm", ["view", "vitest@4.1.12", "version"], {
    env: { ...process.env, npm_config_cache: join(homedir(), ".npm") },
    timeout: 30_000,
  }).then(
    () => true,
    () => false,
  );
}

/** Variables that npm needs to reach the registry of this machine, for a home that is empty. */
export function registryEnv(): Record<string, string> {
  const settings = /^(npm_config_(registry|globalconfig)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter((e): e is [string, string] => settings.test(e[0]))),
    npm_config_userconfig: join(homedir(), ".npmrc"),
    npm_config_cache: join(homedir(), ".npm"),
    npm_config_prefer_offline: "true",
  };
}
