import { open } from "node:fs/promises";
import { join } from "node:path";

/** A file of this size says something. */
const MAX_READ_BYTES = 65_536;

/** True when the workspace has a HEARTBEAT.md that asks for nothing. Without the file the agent is asked nevertheless. */
export async function isChecklistBlank(workspace: string): Promise<boolean> {
  const text = await readStart(join(workspace, "HEARTBEAT.md"));
  return text !== undefined && asksForNothing(text);
}

/** Nothing but blank lines, headings, rules, comments and list marks without text. */
export function asksForNothing(text: string): boolean {
  return text
    .replace(/<!--[\s\S]*?-->/g, "")
    .split("\n")
    .every((line) => /^\s*(?:#{1,6}(?:\s.*)?|[-*_]{3,}|[-*+]|[-*+] \[[ xX]?\]|\d+[.)])?\s*$/.test(line));
}

async function readStart(path: string): Promise<string | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
