import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
// Types only, as in `health.ts`; the supervisor's code is loaded where there is a service.
import type { CliContext } from "svc/sdk";
import { launchdLabel, type ServicePlatform, unitName } from "../service/definition.ts";
import { definitionFolders } from "../service/folders.ts";
import type { ServiceReport } from "../service/inspect.ts";

/** The supervisor of this profile in one row: `systemd user (enabled), running, port 18789`, with the drift behind it. */
export async function serviceLine(cli: CliContext): Promise<{ line: string; issues: string[] }> {
  if (!(await hasDefinition(cli))) return { line: "not installed", issues: [] };
  const [{ inspectService }, { findSupervision }] = await Promise.all([
    import("../service/inspect.ts"),
    import("../service/supervision.ts"),
  ]);
  const report = await inspectService(cli, await findSupervision(cli));
  return { line: lineOf(report), issues: report.audit.issues.map(({ message, fix }) => `service: ${message}; ${fix}`) };
}

function lineOf({ manager, enabled, runtime, installedPort, installed }: ServiceReport): string {
  if (!installed) return "not installed";
  const port = installedPort === null ? "" : `, port ${installedPort}`;
  return `${manager} (${enabled ? "enabled" : "disabled"}), ${runtime.status}${port}`;
}

async function hasDefinition({ env, paths }: CliContext): Promise<boolean> {
  const platform = (env.SVC_SERVICE_PLATFORM?.trim() || process.platform) as ServicePlatform;
  const home = env.HOME || env.USERPROFILE || homedir();
  const { user, system } = definitionFolders({ platform, env, home, root: "/" });
  const name = platform === "linux" ? `${unitName(paths.profile)}.service` : `${launchdLabel(paths.profile)}.plist`;
  const places = platform === "win32" ? [join(paths.stateDir, "gateway.cmd")] : [user, ...system].map((folder) => join(folder, name));
  const found = await Promise.all(
    places.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
