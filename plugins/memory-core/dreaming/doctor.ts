import type { DoctorFinding, PluginContext } from "svc/sdk";
import type { DreamingStatus } from "./dreaming-types.ts";

/** Findings `memory/dreaming` of `svc doctor`. */
export function registerDreamingDoctor(ctx: Pick<PluginContext, "on">, status: () => Promise<DreamingStatus>): void {
  ctx.on("doctor.collect", async (_event, meta) => {
    for (const finding of dreamingFindings(await status())) meta.report(finding);
  });
}

/** Reasons why nothing is dreamed, or not all of it. Pure. */
export function dreamingFindings({ enabled, job, workspaces }: DreamingStatus): DoctorFinding[] {
  const finding = (message: string, fix: string, path = "plugins.entries.memory-core.config.dreaming"): DoctorFinding => ({
    id: "memory/dreaming",
    severity: "warning",
    path,
    message: `dreaming: ${message}`,
    fix,
  });
  const found: DoctorFinding[] = [];
  if (enabled && job.state === "missing")
    found.push(finding(`it is on, but no sweep will run by itself: ${job.problem}`, "svc cron status"));
  for (const { agentIds, workspace, problem, staleLock, invalid, lastSweep } of enabled ? workspaces : []) {
    const who = `workspace of ${agentIds.join(", ")}`;
    if (staleLock !== undefined)
      found.push(finding(`${who}: process ${staleLock} left its lock behind`, "svc memory status --fix", workspace));
    if (invalid > 0)
      found.push(finding(`${who}: ${invalid} entries of the short-term memory cannot be read`, "svc memory status --fix", workspace));
    const trouble = problem ?? lastSweep?.problem;
    if (trouble !== undefined) found.push(finding(`${who}: ${trouble}`, "svc memory dream status", workspace));
  }
  return found;
}
