import type { CliContext } from "svc/sdk";
import type { DriftIssue } from "../service/drift.ts";
import { inspectService } from "../service/inspect.ts";
import { installService } from "../service/install.ts";
import { findSupervision, isExternal } from "../service/supervision.ts";
import type { OwnFinding } from "./checks.ts";

/** Facts about the service of this profile. */
export interface ServiceEvidence {
  definitionPath: string | undefined;
  issues: DriftIssue[];
  /** Another owner has the service: it is not touched. */
  isExternal: boolean;
}

/** Looks at the service; a system without a supervisor that svc knows has none. */
export async function gatherService(cli: CliContext): Promise<ServiceEvidence> {
  const at = await findSupervision(cli).catch(() => undefined);
  const report = at && (await inspectService(cli, at));
  return { definitionPath: report?.definitionPath ?? undefined, issues: report?.audit.issues ?? [], isExternal: isExternal(cli) };
}

/** Findings about the service. Pure. */
export function serviceFindings({ definitionPath, issues, isExternal }: ServiceEvidence): OwnFinding[] {
  return issues.map(({ id, severity, message, fix, isReinstall }): OwnFinding => {
    const fixable = isReinstall && !isExternal && !issues.some((issue) => issue.id === "service/system-unit-owner");
    const owned = isReinstall && isExternal ? `${fix}; doctor leaves it alone (SVC_SERVICE_REPAIR_POLICY=external)` : fix;
    return { id, severity, ...(definitionPath === undefined ? {} : { path: definitionPath }), message, fix: owned, fixable };
  });
}

/** Installs the service again, as `svc gateway install --force` does. @throws {SvcError} as that */
export async function reinstallService(cli: CliContext): Promise<string> {
  const { definitionPath, port, pid, notes } = await installService(cli, await findSupervision(cli), { force: true });
  return [`${definitionPath} is written again, port ${port}; the gateway runs there (pid ${pid})`, ...notes].join("; ");
}
