import type { OpenLiveIndex } from "./live-index.ts";

export interface IdleVectorsParts {
  opened(): Pick<OpenLiveIndex, "vectors"> | undefined;
  /** The process is short of memory. */
  isHeld(): boolean;
  /** Called after a release. */
  released(): void;
}

/** Time after which vectors that nobody searches leave memory, as a rule and while the process is short of it. */
export const IDLE_MS = { rule: 15 * 60_000, held: 10_000 };
const LOOK_MS = 5_000;

/** Gives back the memory of vectors that are not searched; the next search reads them again. */
export interface IdleVectors {
  look(): void;
  close(): void;
}

export function watchIdleVectors({ opened, isHeld, released }: IdleVectorsParts, idleMs = IDLE_MS): IdleVectors {
  const look = () => {
    if (opened()?.vectors.releaseIdle(isHeld() ? idleMs.held : idleMs.rule)) released();
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return { look, close: () => clearInterval(timer) };
}
