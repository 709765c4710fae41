/** Throttles a function; fires on both edges of the pause. */
export interface Throttle {
  request(): void;
  dispose(): void;
}

/** @param pauseMs time between two runs, asked for after each of them */
export function createThrottle(run: () => void, pauseMs: () => number): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let isAsked = false;
  const pause = () => {
    timer = setTimeout(() => {
      timer = undefined;
      if (isAsked) go();
    }, pauseMs());
  };
  const go = () => {
    isAsked = false;
    run();
    pause();
  };
  return {
    request() {
      isAsked = true;
      if (!timer) go();
    },
    dispose() {
      clearTimeout(timer);
      timer = undefined;
      isAsked = false;
    },
  };
}
