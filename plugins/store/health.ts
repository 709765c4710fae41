import type { DoctorFinding, HealthPart, PluginContext } from "svc/sdk";
import { type Notice, readNotices } from "svc/sdk/internal";
import { type EmbeddedStatus, storageAdvice } from "./storage-unavailable.ts";

/** Reports the state of the database in health and to `svc doctor`. */
export function registerReports(ctx: PluginContext, { stateDir, status }: { stateDir: string; status(): EmbeddedStatus }): void {
  ctx.on("doctor.collect", (_, { report }) => {
    const finding = unreadableFinding(status());
    if (finding) report(finding);
  });
  ctx.on("health.collect", async (_, { report }) => {
    report(toHealthPart(status()));
    const history = historyPart(await readNotices(stateDir, ctx.clock.now()));
    if (history) report(history);
  });
}

/** The part `store` of the health snapshot. */
export function toHealthPart(status: EmbeddedStatus): HealthPart {
  const { ok, reason, notReady, queued, damaged, restored, unreadableRows, snapshotAt } = status;
  const kept = damaged && `the state database was damaged and is kept as ${damaged}`;
  const message = notReady ?? (reason ? storageAdvice[reason] : kept);
  return {
    part: "store",
    ok: ok && notReady === undefined,
    critical: true,
    value: {
      ok,
      ...(reason ? { reason } : {}),
      queued,
      ...(damaged ? { damaged } : {}),
      ...(restored ? { restored } : {}),
      ...(unreadableRows ? { unreadableRows } : {}),
      ...(snapshotAt === undefined ? {} : { snapshotAt }),
    },
    ...(message ? { message } : {}),
  };
}

/** The part `stateHistory`: what happened to the database and was not acknowledged yet. The store works, so the whole stays healthy. */
function historyPart(notices: readonly Notice[]): HealthPart | undefined {
  const own = notices.filter(({ id }) => id.startsWith("state/"));
  if (own.length === 0) return undefined;
  const message = own.map((notice) => notice.message).join("; ");
  return { part: "stateHistory", ok: false, value: own.map(({ id, at }) => ({ id, at })), message };
}

/** Finding about rows that do not parse; undefined when all do. What they say is in them still: `svc sessions repair` keeps it in a file. */
export function unreadableFinding({ unreadableRows = 0 }: EmbeddedStatus): DoctorFinding | undefined {
  if (unreadableRows === 0) return undefined;
  const message = `${unreadableRows} rows of the state database cannot be read; they are skipped and kept, and nothing else is affected`;
  return {
    id: "sessions/corrupt",
    severity: "warning",
    message,
    fix: "the log names them; with the gateway stopped, svc sessions repair moves them to a file",
  };
}
