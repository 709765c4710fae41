import { readFileSync } from "node:fs";
import { exceedsJsonShape } from "../../sdk/internal/json-shape.ts";

/**
 * A small JSON file that may have comments and trailing commas. Most have none, so the reader for those is loaded only then. Read at once: a command
 * looks at a dozen of them, and each takes longer by way of the thread pool than by itself.
 * @throws when there is no such file, it is neither, or it is nested deeper than 64 levels
 */
export async function readLooseJson(path: string): Promise<unknown> {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  const value = await parse(text);
  if (exceedsJsonShape(value, Number.POSITIVE_INFINITY)) throw new SyntaxError("nested deeper than 64 levels");
  return value;
}

async function parse(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { default: JSON5 } = await import("json5");
    return JSON5.parse(text);
  }
}
