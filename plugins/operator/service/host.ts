import { stat } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import type { CliContext } from "svc/sdk";
import type { ServicePlatform } from "./definition.ts";
import { errors } from "./errors.ts";
import { createRunner, type RunCommand } from "./run-command.ts";

/** This machine and this user, as supervisors see them. */
export interface ServiceHost {
  platform: ServicePlatform;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  user: string;
  uid: number;
  /** Root of the file system; another one in tests. */
  root: string;
  run: RunCommand;
}

const platforms: readonly string[] = ["linux", "darwin", "win32"];
/** Where a system has no numbers for users. */
const NO_UID = 501;

/**
 * Describes the machine that a command runs on. `SVC_SERVICE_PLATFORM` names another system, whose definitions are then shown.
 * @throws {SvcError} `service-platform-unknown`
 */
export function serviceHost(cli: Pick<CliContext, "env" | "signal">, root = "/"): ServiceHost {
  const { env } = cli;
  const platform = env.SVC_SERVICE_PLATFORM?.trim() || process.platform;
  if (!platforms.includes(platform)) throw errors.servicePlatformUnknown({ platform });
  const home = env.HOME || env.USERPROFILE || homedir();
  const uid = process.getuid?.() ?? NO_UID;
  return { platform: platform as ServicePlatform, env, home, user: userName(env), uid, root, run: createRunner(cli) };
}

function userName(env: ServiceHost["env"]): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || env.USERNAME || "root"; // a number without an entry, as containers have
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
