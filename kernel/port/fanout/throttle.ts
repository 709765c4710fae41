/** Does something at most once in a while: at once when it was long ago, else at the end of the pause. */
export interface Coalesced {
  ask(): void;
  dispose(): void;
}

/** @param pauseMs time between two runs, asked for after each of them */
export function createCoalesced(run: () => void, pauseMs: () => number): Coalesced {
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
    ask() {
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
