import { cleanExternalLine, stripFrames, type ToolResult, wrapExternal } from "svc/sdk";

/** Longest line of a labelled note: a passage of a search result holds more, so that it holds a label. */
const MAX_LINE_CHARS = 350;

/** A note that anybody may have had a word in: each of its lines says where it is from, because a search finds lines and not notes. Pure. */
export function labelled(note: string, sessionKey: string): string {
  const label = ` (from ${cleanExternalLine(sessionKey)})`;
  const lines = note.split("\n").flatMap((line) => (line.length <= MAX_LINE_CHARS ? [line] : dividedLine(line)));
  return lines.map((line) => (line.trim() === "" ? line : `${line}${label}`)).join("\n");
}

/** Parts of a long line, divided at its blanks as far as it has some. */
function dividedLine(line: string): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > MAX_LINE_CHARS) {
    const blank = rest.lastIndexOf(" ", MAX_LINE_CHARS);
    const end = blank > 0 ? blank : MAX_LINE_CHARS;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? parts : [...parts, rest];
}

/** Whether anybody may have written a text of the memory: it is of a conversation, or labelled. */
function isForeign(text: string, source?: "memory" | "sessions"): boolean {
  return source === "sessions" || /\(from agent:[^\s)]/.test(text);
}

/** Result of a tool that recalls, for a model: in a frame, like everything that others wrote, as soon as one of its texts is foreign. */
export function recalled(found: object, texts: ReadonlyArray<{ text: string; source?: "memory" | "sessions" }>): object | ToolResult {
  if (!texts.some(({ text, source }) => isForeign(text, source))) return found;
  const text = wrapExternal(stripFrames(JSON.stringify(found)), { source: "Memory" });
  return { content: [{ type: "text", text }], details: found };
}
