import { join } from "node:path";
import { parseEnv } from "node:util";
import { messageOf } from "../../sdk/errors.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import type { Env } from "../../sdk/types/common.ts";
import { isLoaderName, isWorkspaceName } from "./env-names.ts";

const MAX_ENV_FILE_BYTES = 1024 * 1024;
/** Variables of an installed service, in the state directory; systemd hands them over itself, elsewhere the gateway reads the file. */
const SERVICE_ENV_FILE = join("service", "gateway.env");

/** Variables that the `.env` files add. */
export interface EnvFiles {
  /** Variables that were not set before. */
  added: Record<string, string>;
  /** Files that could not be read, and why. No value is in it. */
  problems: string[];
}

/**
 * Variables of `.env` in the working directory and of `<stateDir>/.env`, in this precedence, below those that are set already. Under a supervisor those of
 * its service come first. A missing file is none; an unreadable one is a problem to tell, not an error.
 */
export async function readEnvFiles(options: { env: Env; cwd: string; stateDir: string }): Promise<EnvFiles> {
  const { env, cwd, stateDir } = options;
  const own = join(stateDir, ".env");
  const local = join(cwd, ".env");
  const problems: string[] = [];
  const read = async (path: string, allowed: (name: string) => boolean) => {
    try {
      const text = (await readRegularFile(path, { maxBytes: MAX_ENV_FILE_BYTES })).toString("utf8");
      const parsed = Object.entries(parseEnv(text.replace(/^\uFEFF/, "")));
      return parsed.filter(
        (entry): entry is [string, string] => entry[1] !== undefined && env[entry[0]] === undefined && allowed(entry[0]),
      );
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") problems.push(`${path}: ${code ?? messageOf(error)}`);
      return [];
    }
  };
  const fromOwn = await read(own, (name) => !isLoaderName(name));
  // In the state directory itself both are one file, the operator's.
  const fromLocal = local === own ? [] : await read(local, isWorkspaceName);
  const isService = (env.SVC_SERVICE_MARKER?.trim() ?? "") !== "";
  const fromService = isService ? await read(join(stateDir, SERVICE_ENV_FILE), (name) => !isLoaderName(name)) : [];
  return { added: { ...Object.fromEntries(fromOwn), ...Object.fromEntries(fromLocal), ...Object.fromEntries(fromService) }, problems };
}
