const NEWLINE = 0x0a;

/**
 * Cuts a stream of bytes into lines of text. A line is handed on without its end; what follows the last one is kept for the next chunk.
 * @param options.maxBytes longest line; a longer one is never held whole: `onTooLong` is called once and the rest of the stream is ignored
 * @returns takes the next chunk
 */
export function createLines(options: { maxBytes: number; onLine(text: string): void; onTooLong(): void }): (chunk: Buffer) => void {
  const { maxBytes, onLine, onTooLong } = options;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let broken = false;
  return (chunk) => {
    let rest = chunk;
    while (!broken) {
      const end = rest.indexOf(NEWLINE);
      const part = end === -1 ? rest : rest.subarray(0, end);
      heldBytes += part.length;
      if (heldBytes > maxBytes) {
        broken = true;
        held = [];
        return onTooLong();
      }
      held.push(part);
      if (end === -1) return;
      const line = Buffer.concat(held).toString();
      held = [];
      heldBytes = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
  };
}
