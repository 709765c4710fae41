/** Silence after which somebody who waits is told of it, and then again. */
export const NOTICE_MS = 15_000;

/** Tells of a model's silence while it lasts. */
export interface SilenceNotice {
  /** Called for each event of the model: cheap. */
  heard(): void;
  stop(): void;
}

/** @param onSilence told how long nothing has been heard, at least */
export function noticeSilence(onSilence: ((silentMs: number) => void) | undefined): SilenceNotice {
  if (!onSilence) return { heard: () => undefined, stop: () => undefined };
  let isHeard = false;
  let silentMs = 0;
  const timer = setInterval(() => {
    silentMs = isHeard ? 0 : silentMs + NOTICE_MS;
    isHeard = false;
    if (silentMs > 0) onSilence(silentMs);
  }, NOTICE_MS);
  return {
    heard: () => {
      isHeard = true;
    },
    stop: () => clearInterval(timer),
  };
}
