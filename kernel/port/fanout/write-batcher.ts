/** A stream that can hold back what is written to it. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

/** Gathers what one turn of the event loop writes to a socket, so that it leaves in one system call. */
export interface WriteBatcher {
  /** Called before each write; `bytes` may be a guess. */
  write(to: Corkable, bytes: number): void;
}

/**
 * @param maxBytes what may gather over all sockets before it is sent in the middle of a turn
 * @param defer runs a function when the code that is running now is done
 */
export function createWriteBatcher(maxBytes: number, defer: (fn: () => void) => void = process.nextTick): WriteBatcher {
  let corked = new Set<Corkable>();
  let gathered = 0;
  const release = () => {
    const held = corked;
    corked = new Set();
    gathered = 0;
    for (const stream of held) stream.uncork();
  };
  return {
    write(to, bytes) {
      if (gathered > maxBytes) release();
      if (corked.size === 0) defer(release);
      if (!corked.has(to)) {
        corked.add(to);
        to.cork();
      }
      gathered += bytes;
    },
  };
}
