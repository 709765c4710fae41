import { isRecord } from "svc/sdk";
import { type PhaseHits, type PhaseSignals, toPhaseHits } from "./phase-signals.ts";
import { toRecallEntry } from "./recall-entry.ts";
import { RecallStore } from "./recall-store.ts";
import { readState, writeState } from "./state-files.ts";

/** Short-term memory of a workspace and what its phases have seen of it. */
export interface DreamState {
  recall: RecallStore;
  phases: PhaseSignals;
  /** Stored entries that are none, and are left out. */
  invalid: number;
}

/** @throws {SvcError} `dream-state-broken`, `unsafe-file` */
export async function loadState(workspace: string): Promise<DreamState> {
  const [recall, phases] = [await readState(workspace, "short-term-recall"), await readState(workspace, "phase-signals")];
  const stored = Object.values(isRecord(recall.entries) ? recall.entries : {});
  const entries = stored.map(toRecallEntry).filter((entry) => entry !== undefined);
  const hits = Object.entries(isRecord(phases.entries) ? phases.entries : {})
    .map(([key, value]) => [key, toPhaseHits(value)] as const)
    .filter((row): row is [string, PhaseHits] => row[1] !== undefined);
  return { recall: new RecallStore(entries), phases: new Map(hits), invalid: stored.length - entries.length };
}

/** Stores both, within their bounds. Signals of entries that are gone go with them. */
export async function saveState(workspace: string, { recall, phases }: DreamState, at: number): Promise<void> {
  const updatedAt = new Date(at).toISOString();
  const kept = recall.kept();
  const keys = new Set(kept.map(({ key }) => key));
  await writeState(workspace, "short-term-recall", {
    version: 1,
    updatedAt,
    entries: Object.fromEntries(kept.map((entry) => [entry.key, entry])),
  });
  const signals = [...phases].filter(([key]) => keys.has(key));
  await writeState(workspace, "phase-signals", { version: 1, updatedAt, entries: Object.fromEntries(signals) });
}
