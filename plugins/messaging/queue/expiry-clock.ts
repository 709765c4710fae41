import type { Clock } from "svc/sdk";

const JUMP_MS = 86_400_000;
const CONFIRM_MS = 60_000;

/**
 * Whether the wall clock may be believed when it says that messages are too old. One that went forward by more than a day in one step is asked again a
 * minute later: a wrong time must not throw a queue away.
 */
export function createExpiryClock(clock: Clock): { isTrusted(): boolean } {
  let last = { wall: clock.now(), mono: clock.monotonic() };
  let doubtedAt: number | undefined;
  return {
    isTrusted() {
      const now = { wall: clock.now(), mono: clock.monotonic() };
      const jump = now.wall - last.wall - (now.mono - last.mono);
      last = now;
      if (jump > JUMP_MS) doubtedAt = now.mono;
      // Back where it was: it was wrong.
      else if (jump < -JUMP_MS) doubtedAt = undefined;
      if (doubtedAt !== undefined && now.mono - doubtedAt >= CONFIRM_MS) doubtedAt = undefined;
      return doubtedAt === undefined;
    },
  };
}
