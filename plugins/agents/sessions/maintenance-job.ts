import { type Disposable, type HealthPart, messageOf } from "svc/sdk";
import { createExpiryClock, type ExpiryClock } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { type MaintenanceReport, maintainSessions } from "./maintenance.ts";

/** After the start, once the first requests are through. */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
/** After a step of the clock that is not believed at once. */
const DOUBT_MS = 60_000;

/** Sessions are kept within `session.maintenance` once a minute after the start, and then every hour. */
export interface MaintenanceJob {
  start(): void;
  /** Ends a pass that is at work after its present step. */
  stop(): Promise<void>;
  /** The part `sessionMaintenance` of the health snapshot; undefined before the first pass. */
  health(): HealthPart | undefined;
}

interface LastPass {
  at: number;
  report?: MaintenanceReport | undefined;
  error?: string;
}

export function createMaintenanceJob(kit: Kit): MaintenanceJob {
  const { ctx } = kit;
  let stopping = new AbortController();
  let timer: Disposable | undefined;
  let running: Promise<void> | undefined;
  let last: LastPass | undefined;
  let expiry: ExpiryClock | undefined;

  /** The time of the newest session is from before a clock that was wrong at the start. */
  const expiryClock = async (): Promise<ExpiryClock> => {
    const { rows } = await kit.store().sessions.list({ limit: 1 });
    expiry ??= createExpiryClock(ctx.clock, rows[0]?.updatedAt);
    return expiry;
  };
  /** @returns when the next pass is due */
  const pass = async (signal: AbortSignal): Promise<number> => {
    try {
      const at = (await expiryClock()).read();
      if (at !== undefined) {
        await passAt(at, signal);
        return EVERY_MS;
      }
      ctx.logger.warn("the clock went forward by more than a day; no session is deleted before a second look in a minute");
    } catch (error) {
      if (!signal.aborted) ctx.logger.warn("the time of the newest session could not be read", { error: messageOf(error) });
    }
    return DOUBT_MS;
  };
  const passAt = async (at: number, signal: AbortSignal): Promise<void> => {
    try {
      const report = await maintainSessions(kit, { signal, now: at });
      last = { at, report };
      if (report) logReport(kit, report);
      await kit.traces.maintain(signal);
    } catch (error) {
      if (signal.aborted) return;
      last = { at, error: messageOf(error) };
      ctx.logger.error("sessions cannot be kept within session.maintenance", { error: messageOf(error) });
    }
  };
  const arm = (delayMs: number) => {
    const { signal } = stopping;
    timer = ctx.timers.setTimeout(() => {
      running = pass(signal).then((nextMs) => {
        if (!signal.aborted) arm(nextMs);
      });
    }, delayMs);
  };

  return {
    start() {
      stopping = new AbortController();
      // A second reading is a minute away: what the clock says at the first pass is believed then.
      void expiryClock().then(
        (clock) => clock.read(),
        () => undefined,
      );
      arm(FIRST_MS);
    },
    async stop() {
      stopping.abort();
      void timer?.dispose();
      await running;
    },
    health: () => last && toHealthPart(last),
  };
}

function logReport({ ctx }: Kit, report: MaintenanceReport): void {
  const { mode, expired, surplus, archives, forSpace, usedBytes, maxDiskBytes } = report;
  const fields = { expired, surplus, archives, forSpace, usedBytes };
  if (isOverBudget(report))
    ctx.logger.warn("sessions take more disk space than session.maintenance.maxDiskBytes", { usedBytes, maxDiskBytes });
  if (expired + surplus + archives + forSpace === 0) ctx.logger.debug("sessions are within session.maintenance", fields);
  else if (mode === "warn") ctx.logger.warn("sessions exceed the limits of session.maintenance; mode enforce would delete them", fields);
  else ctx.logger.info("deleted old sessions and archived transcripts (session.maintenance)", fields);
}

function isOverBudget({ usedBytes, maxDiskBytes }: MaintenanceReport): boolean {
  return usedBytes > maxDiskBytes;
}

function toHealthPart({ at, report, error }: LastPass): HealthPart {
  const part = "sessionMaintenance";
  if (error !== undefined) return { part, ok: false, value: { lastRunAt: at }, message: `session.maintenance: ${error}` };
  if (!report) return { part, ok: true, value: { mode: "off", lastRunAt: at } };
  const value = { lastRunAt: at, ...report };
  if (!isOverBudget(report)) return { part, ok: true, value };
  const { usedBytes, maxDiskBytes } = report;
  const message = `sessions take ${usedBytes} bytes, more than session.maintenance.maxDiskBytes (${maxDiskBytes}); what is left is in use, pinned or a main session`;
  return {
    part,
    ok: false,
    value,
    message: report.mode === "warn" ? message.replace(/;.*/, "; mode is warn, so nothing is deleted") : message,
  };
}
