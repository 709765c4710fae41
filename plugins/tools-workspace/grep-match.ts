/** A file for the thread that tries the expression; it answers each before the next one comes. */
export interface FileToMatch {
  /** Path as it is shown. */
  path: string;
  bytes: Uint8Array;
  /** Most hits that are still wanted. */
  most: number;
}

export interface Matched {
  lines: string[];
  hits: number;
}

const MAX_LINE_CHARS = 500;

/** Lines of a text that fit, each with as many lines around it as `context` says, as `path:line: text` and `path-line- text`. */
export function matchLines({ path, bytes, most }: FileToMatch, { pattern, context }: { pattern: RegExp; context: number }): Matched {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split("\n").map(withoutCr);
  const shown: string[] = [];
  let hits = 0;
  let next = 0; // first line that is not shown yet
  let until = -1; // last line that the latest hit wants to show
  for (const [at, line] of lines.entries()) {
    const isHit = hits < most && pattern.test(line);
    if (isHit) {
      for (let i = Math.max(next, at - context); i < at; i += 1) shown.push(`${path}-${i + 1}- ${cut(lines[i])}`);
      shown.push(`${path}:${at + 1}: ${cut(line)}`);
      hits += 1;
      until = at + context;
      next = at + 1;
    } else if (at <= until) {
      shown.push(`${path}-${at + 1}- ${cut(line)}`);
      next = at + 1;
    } else if (hits >= most) break;
  }
  return { lines: shown, hits };
}

function withoutCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function cut(line = ""): string {
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line;
}
