/** Between two looks, while something is under way. */
const PERIOD_MS = 100;
/** The same while nothing is: a guest may have left a timer behind that goes on allocating. */
const IDLE_PERIOD_MS = 1_000;

/** Looks how much memory a guest takes: buffers stand outside of the heap, and no flag of Node bounds them. */
export interface MemoryWatch {
  /** Something is under way: looks often until `rest`. */
  wake(): void;
  /** Nothing is: looks now and then, and keeps no process alive for it. */
  rest(): void;
  /** The guest has ended. */
  end(): void;
}

/**
 * @param options.read bytes in use; undefined where that cannot be known, and then nothing is watched
 * @param options.onTooMuch called once
 */
export function createMemoryWatch(options: {
  maxBytes: number;
  read(): Promise<number | undefined>;
  onTooMuch(bytes: number): void;
}): MemoryWatch {
  let timer: NodeJS.Timeout | undefined;
  let isAwake = false;
  let hasEnded = false;
  const look = async () => {
    timer = undefined;
    const bytes = await options.read();
    if (hasEnded || bytes === undefined) return;
    if (bytes <= options.maxBytes) return plan();
    hasEnded = true;
    options.onTooMuch(bytes);
  };
  const plan = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), isAwake ? PERIOD_MS : IDLE_PERIOD_MS);
    if (!isAwake) timer.unref();
  };
  const pace = (awake: boolean) => {
    if (hasEnded || isAwake === awake) return;
    isAwake = awake;
    plan();
  };
  return {
    wake: () => pace(true),
    rest: () => pace(false),
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}
