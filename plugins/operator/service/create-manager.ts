import type { CliContext } from "svc/sdk";
import type { ServiceHost } from "./host.ts";
import { createLaunchd } from "./launchd.ts";
import type { ServiceManager } from "./manager.ts";
import { createSystemd } from "./systemd.ts";
import { createTaskScheduler } from "./task-scheduler.ts";

/** Creates the manager of this system for a profile. */
export function createManager(host: ServiceHost, { profile, stateDir }: Pick<CliContext["paths"], "profile" | "stateDir">): ServiceManager {
  if (host.platform === "linux") return createSystemd(host, profile);
  if (host.platform === "darwin") return createLaunchd(host, profile);
  return createTaskScheduler(host, { profile, stateDir });
}
