import type { DoctorFinding } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { type MaintenanceReport, maintainSessions } from "./maintenance.ts";

/** Checks of `svc doctor` (`sessions/*`): what a pass would delete, without deleting it. */
export async function sessionFindings(kit: Kit): Promise<DoctorFinding[]> {
  const { ctx, config } = kit;
  const report = await maintainSessions(kit, { signal: ctx.signal, now: ctx.clock.now(), mode: "warn" });
  return report ? findingsOf(report, config.session.maintenance.mode === "enforce") : [];
}

/** @param isEnforced the hourly pass deletes by itself what is past its time. Pure. */
export function findingsOf({ archives, usedBytes, maxDiskBytes }: MaintenanceReport, isEnforced: boolean): DoctorFinding[] {
  const fix = { fix: "svc doctor --fix keeps them within session.maintenance, as svc sessions cleanup --enforce does", fixable: true };
  const found: DoctorFinding[] = [];
  if (archives > 0 && !isEnforced) {
    const message = `${archives} transcripts have no session and are older than resetArchiveRetention`;
    found.push({ id: "sessions/orphans", severity: "warning", path: "session.maintenance", message, ...fix });
  }
  if (usedBytes > maxDiskBytes) {
    const message = `transcripts take ${usedBytes} bytes; maxDiskBytes is ${maxDiskBytes}`;
    found.push({ id: "sessions/disk", severity: "warning", path: "session.maintenance.maxDiskBytes", message, ...fix });
  }
  return found;
}
