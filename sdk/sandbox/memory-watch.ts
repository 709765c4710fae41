/** Between two looks, while something is under way. */
const PERIOD_MS = 100;

/** Looks how much memory a guest takes: buffers stand outside of the heap, and no flag of Node bounds them. */
export interface MemoryWatch {
  /** Something is under way. Again and again until `rest`. */
  wake(): void;
  /** Nothing is. */
  rest(): void;
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
  const look = async () => {
    const bytes = await options.read();
    timer = undefined;
    if (!isAwake || bytes === undefined) return;
    if (bytes <= options.maxBytes) return plan();
    isAwake = false;
    options.onTooMuch(bytes);
  };
  const plan = () => {
    timer ??= setTimeout(() => void look(), PERIOD_MS);
  };
  return {
    wake() {
      if (isAwake) return;
      isAwake = true;
      plan();
    },
    rest() {
      isAwake = false;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
