import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";

const CHUNK_BYTES = 4096;

/** Conditions a file must meet to be read. */
export interface RegularFileRules {
  maxBytes: number;
  /** False: a symbolic link at the end of the path is refused. Default true. */
  followLink?: boolean;
  /** Looks at the opened file; a string is the reason to refuse it. */
  check?(stat: Stats): string | undefined;
}

/**
 * Reads a regular file of bounded size. The checks look at what was opened, not at what the name meant a moment before, and a FIFO or
 * a device never makes it wait.
 * @throws {Error} with `code: "ENOENT"` and the like from the system, or with a short reason: `is not a regular file`, `is larger than …`
 */
export async function readRegularFile(path: string, rules: RegularFileRules): Promise<Buffer> {
  const noFollow = rules.followLink === false ? (constants.O_NOFOLLOW ?? 0) : 0;
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOOP" && noFollow !== 0) throw new Error("is a symbolic link");
    throw error;
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error("is not a regular file");
    const tooLarge = () => new Error(`is larger than ${rules.maxBytes} bytes`);
    if (stat.size > rules.maxBytes) throw tooLarge();
    const refusal = rules.check?.(stat);
    if (refusal) throw new Error(refusal);
    // To its end, whatever size it said it has: it may grow meanwhile. One byte more than allowed tells that it is too large.
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(rules.maxBytes + 1 - length, Math.max(stat.size + 1 - length, CHUNK_BYTES)));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return Buffer.concat(chunks, length);
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
      if (length > rules.maxBytes) throw tooLarge();
    }
  } finally {
    await file.close();
  }
}
