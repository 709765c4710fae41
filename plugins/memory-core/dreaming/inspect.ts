import { messageOf } from "svc/sdk";
import { dreamsName } from "./dreams-file.ts";
import { loadState } from "./load-state.ts";
import { staleLock } from "./lock.ts";
import { lastEvent } from "./state-files.ts";
import type { DreamPlace } from "./sweep.ts";

/** State of the short-term memory of one workspace. */
export interface PlaceState {
  workspace: string;
  agentIds: string[];
  /** Statements, and how many of them are in the long-term memory. */
  entries: number;
  promoted: number;
  /** From groups or from outside: never promoted by themselves. */
  untrusted: number;
  /** Stored entries that are none. */
  invalid: number;
  /** File for people, relative to the workspace. */
  diary: string;
  lastSweep?: LastSweep;
  /** Process whose lock was left behind. */
  staleLock?: number;
  problem?: string;
}

/** Figures of the newest sweep. */
export interface LastSweep {
  at: number;
  staged: number;
  themes: number;
  truths: number;
  promoted: number;
  skipped: number;
  diary: string;
  ms: number;
  problem?: string;
}

/** Looks at a workspace and changes nothing. Never throws: what is wrong stands in `problem`. */
export async function inspectPlace({ workspace, agentIds }: DreamPlace, nowMs: number): Promise<PlaceState> {
  const empty = { workspace, agentIds: [...agentIds], entries: 0, promoted: 0, untrusted: 0, invalid: 0, diary: "DREAMS.md" };
  try {
    const { recall, invalid } = await loadState(workspace);
    const all = recall.entries;
    const [lock, event] = [await staleLock(workspace, nowMs), await lastEvent(workspace, "memory.dream.completed")];
    return {
      ...empty,
      entries: all.length,
      promoted: all.filter(({ promotedAt }) => promotedAt !== undefined).length,
      untrusted: all.filter(({ isUntrusted }) => isUntrusted).length,
      invalid,
      diary: await dreamsName(workspace),
      ...(event ? { lastSweep: lastSweepOf(event) } : {}),
      ...(lock ? { staleLock: lock.pid } : {}),
    };
  } catch (error) {
    return { ...empty, problem: messageOf(error) };
  }
}

function lastSweepOf(event: { at: string; [field: string]: unknown }): LastSweep {
  const count = (name: string) => (Number.isSafeInteger(event[name]) ? Math.max(0, Number(event[name])) : 0);
  return {
    at: Math.max(0, Date.parse(event.at) || 0),
    staged: count("staged"),
    themes: count("themes"),
    truths: count("truths"),
    promoted: count("promoted"),
    skipped: count("skipped"),
    diary: typeof event.diary === "string" ? event.diary : "none",
    ms: count("ms"),
    ...(typeof event.problem === "string" ? { problem: event.problem } : {}),
  };
}
