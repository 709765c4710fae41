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
  return withoutComments(text)
    .split("\n")
    .every((line) => /^(?:#{1,6}(?:\s.*)?|[-*_]{3,}|[-*+]|[-*+] \[[ xX]?\]|\d+[.)])?$/.test(line.trim()));
}

/** One pass, whatever the text: a comment that is never closed is text. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let start = text.indexOf("<!--"); start >= 0; start = text.indexOf("<!--", from)) {
    const end = text.indexOf("-->", start + "<!--".length);
    if (end < 0) break;
    kept.push(text.slice(from, start));
    from = end + "-->".length;
  }
  return kept.join("") + text.slice(from);
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
