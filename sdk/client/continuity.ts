import type { EventFrame, StateVersion } from "../protocol/frames.ts";

/** Verdict about the events before one event. */
export interface Verdict {
  /** Events were lost before this one. */
  gap: boolean;
  /** Older than what was already seen: not to be delivered. */
  stale: boolean;
}

/** Follows `seq` per connection and `stateVersion` per gateway process. */
export function createContinuity() {
  let lastSeq = 0;
  let bootId = "";
  let seen: StateVersion = { presence: 0, health: 0 };
  return {
    /** A new connection: numbers start at 1 again; versions go on when the process is the same. */
    connected(boot: string, version: StateVersion): void {
      lastSeq = 0;
      seen = boot === bootId ? newer(seen, version) : { ...version };
      bootId = boot;
    },
    accept(frame: EventFrame): Verdict {
      const gap = frame.seq !== undefined && frame.seq !== lastSeq + 1;
      if (frame.seq !== undefined) lastSeq = frame.seq;
      const part = frame.event === "health" || frame.event === "presence" ? frame.event : undefined;
      const stale = part !== undefined && frame.stateVersion !== undefined && frame.stateVersion[part] < seen[part];
      if (frame.stateVersion) seen = newer(seen, frame.stateVersion);
      return { gap, stale };
    },
  };
}

function newer(a: StateVersion, b: StateVersion): StateVersion {
  return { presence: Math.max(a.presence, b.presence), health: Math.max(a.health, b.health) };
}
