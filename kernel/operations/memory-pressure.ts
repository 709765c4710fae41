import { totalmem } from "node:os";
import type { HealthPart } from "../../sdk/hooks.ts";
import type { MemoryStage } from "../../sdk/types/gateway.ts";

/** Memory of a process, as far as it is known. */
export interface MemoryGauge {
  rssBytes(): number;
  /** Limit of what it may take; more ends it. */
  limitBytes: number;
  /** A younger gateway does not end itself; default one minute. One that needs so much to start would restart for ever. */
  minUptimeMs?: number;
  /** So long the last stage lasts before the gateway ends itself, so that the peak of one answer passes; default 5 s. */
  peakMs?: number;
}

/** Without a limit of the system: what a gateway that is well does not come near. */
const DEFAULT_LIMIT_BYTES = 1_500_000_000;
export const MEMORY_LOOK_MS = 5_000;
/** A stage ends this far below its beginning, so that a process at the border does not change to and fro. */
const RELIEF = 0.05;
const PEAK_MS = 5_000;
const MIN_UPTIME_MS = 60_000;

const stages: ReadonlyArray<{ stage: MemoryStage; from: number }> = [
  { stage: "restart", from: 0.9 },
  { stage: "work", from: 0.8 },
  { stage: "background", from: 0.7 },
];
const order: readonly MemoryStage[] = ["none", "background", "work", "restart"];

/** The memory of this process, and the limit of its control group. */
export function processMemory(): MemoryGauge {
  const limit = process.constrainedMemory();
  return { rssBytes: () => process.memoryUsage.rss(), limitBytes: limit > 0 && limit < totalmem() ? limit : DEFAULT_LIMIT_BYTES };
}

/** The stage for a share of the limit, seen from the present one. Pure. */
export function stageFor(share: number, present: MemoryStage): MemoryStage {
  const found = stages.find(({ stage, from }) => share >= (order.indexOf(stage) <= order.indexOf(present) ? from - RELIEF : from));
  return found?.stage ?? "none";
}

/** True when what belongs to a stage is off at another one. */
export function isAtLeast(present: MemoryStage, stage: MemoryStage): boolean {
  return order.indexOf(present) >= order.indexOf(stage);
}

/** Sheds work in stages while the process comes near the limit of its memory. */
export interface MemoryPressure {
  stage(): MemoryStage;
  /** Compares memory and limit; called every `MEMORY_LOOK_MS`, and for each health snapshot. */
  look(): void;
  /** Health entry; nothing without pressure. */
  parts(): HealthPart[];
}

export interface MemoryPressureOptions {
  /** Undefined: nobody watches, as in a command. */
  gauge: MemoryGauge | undefined;
  uptimeMs(): number;
  onStage(stage: MemoryStage, message: string): void;
  /** Called once, when only an end of the process helps. */
  onExhausted(message: string): void;
}

export function createMemoryPressure({ gauge, uptimeMs, onStage, onExhausted }: MemoryPressureOptions): MemoryPressure {
  let stage: MemoryStage = "none";
  let rssBytes = 0;
  let since: number | undefined;
  let isExhausted = false;
  const text = () => {
    const { limitBytes = 1 } = gauge ?? {};
    return `the process uses ${megabytes(rssBytes)} of ${megabytes(limitBytes)} MB (${Math.round((100 * rssBytes) / limitBytes)} %): ${measures[stage]}`;
  };
  return {
    stage: () => stage,
    look() {
      if (!gauge) return;
      rssBytes = gauge.rssBytes();
      const next = stageFor(rssBytes / gauge.limitBytes, stage);
      const isChanged = next !== stage;
      stage = next;
      if (isChanged) onStage(stage, text());
      since = stage === "restart" ? (since ?? uptimeMs()) : undefined;
      const { peakMs = PEAK_MS, minUptimeMs = MIN_UPTIME_MS } = gauge;
      if (since === undefined || uptimeMs() - since < peakMs || uptimeMs() < minUptimeMs || isExhausted) return;
      isExhausted = true;
      onExhausted(text());
    },
    parts() {
      if (!gauge || stage === "none") return [];
      return [{ part: "memoryPressure", ok: false, value: { stage, rssBytes, limitBytes: gauge.limitBytes }, message: text() }];
    },
  };
}

const measures: Readonly<Record<MemoryStage, string>> = {
  none: "everything runs again",
  background: "indexing of notes pauses",
  work: "indexing pauses, and new runs and connections from other machines are refused; accepted work waits",
  restart: "nothing new is taken, and a supervised gateway restarts",
};

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
