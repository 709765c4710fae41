import { readFileSync } from "node:fs";

/**
 * A small JSON file that may have comments and trailing commas. Most have none, so the reader for those is loaded only then. Read at once: a command
 * looks at a dozen of them, and each takes longer by way of the thread pool than by itself.
 * @throws when there is no such file or it is neither
 */
export async function readLooseJson(path: string): Promise<unknown> {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  try {
    return JSON.parse(text);
  } catch {
    const { default: JSON5 } = await import("json5");
    return JSON5.parse(text);
  }
}
