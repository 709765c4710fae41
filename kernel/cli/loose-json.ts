import { readFile } from "node:fs/promises";

/**
 * A JSON file that may have comments and trailing commas. Most have none, so the reader for those is loaded only then.
 * @throws when there is no such file or it is neither
 */
export async function readLooseJson(path: string): Promise<unknown> {
  const text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  try {
    return JSON.parse(text);
  } catch {
    const { default: JSON5 } = await import("json5");
    return JSON5.parse(text);
  }
}
