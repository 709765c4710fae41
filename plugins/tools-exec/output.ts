/** Output that is kept of one command; older bytes go. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** The newest output of a command, with the number of bytes that are gone. */
export class Output {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes that the command has written. */
  written = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.written += chunk.length;
    while (this.#bytes > MAX_KEPT_BYTES && this.#chunks.length > 1) this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  /** Text from a place on, counted in bytes written, the number of bytes that are gone, and the place where it ends. */
  from(place: number): { text: string; lost: number; end: number } {
    const start = this.written - this.#bytes;
    const all = Buffer.concat(this.#chunks);
    return { text: all.toString("utf8", Math.max(0, place - start)), lost: Math.max(0, start - place), end: this.written };
  }
}

/** Bytes of output that a model gets at once. */
export const MAX_SHOWN_BYTES = 50 * 1024;

/** A long output as its beginning and, where the result of a command stands, more of its end. */
export function clamp(text: string, maxBytes = MAX_SHOWN_BYTES): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const head = wholeEnd(bytes, Math.floor(maxBytes * 0.4));
  const tail = wholeStart(bytes, bytes.length - Math.floor(maxBytes * 0.6));
  const left = tail - head;
  return `${bytes.toString("utf8", 0, head)}\n[… ${left} of ${bytes.length} bytes left out; write long output to a file and read parts of it …]\n${bytes.toString("utf8", tail)}`;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function wholeEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (at > 0 && isContinuation(bytes[at])) at -= 1;
  return at;
}

function wholeStart(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}
