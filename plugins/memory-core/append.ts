import { isSvcError, neutralize, type Tool, type ToolCall, type ToolResult, z } from "svc/sdk";
import { partsBelow, replaceContained } from "svc/sdk/internal";
import { indexedSoon, isNote, type NoteHost } from "./note-files.ts";
import { labelled } from "./provenance.ts";

const input = z.strictObject({
  text: z.string().min(1).describe("What to remember, as a sentence that can be understood by itself; 8 KB at most."),
  file: z.string().max(500).optional().describe("MEMORY.md for what stays true for long, or a note below memory/; default: today's note."),
});
type Input = z.output<typeof input>;

const MAX_BYTES = 8 * 1024;

/** Parts of the memory that a note needs. */
export interface AppendHost extends NoteHost {
  now(): number;
}

/** `memory_append`: adds a note. */
export function memoryAppendTool(host: AppendHost): Tool<Input> {
  return {
    name: "memory_append",
    description:
      "Adds a note to the agent's memory, where memory_search finds it from then on. Use it when you are asked to remember something, and for facts, decisions, preferences " +
      "and appointments that matter later. Say only what was said; one note per matter.",
    input,
    async run({ text, file }, call) {
      const note = neutralize(text).trim();
      const bytes = Buffer.byteLength(note);
      if (note === "") return refused("text is blank; expected what to remember");
      if (bytes > MAX_BYTES) return refused(`text has ${bytes} bytes; expected at most ${MAX_BYTES}: write several notes`);
      const workspace = host.workspaceOf(call.agentId);
      const day = isoDay(new Date(host.now()));
      const path = file ?? `memory/${day}.md`;
      try {
        const parts = partsBelow(workspace, path);
        if (!isNote(parts)) return refused("file: expected MEMORY.md or a Markdown file below memory/, such as memory/people.md");
        return await append(host, { workspace, parts, entry: entryOf(note, call), title: file === undefined ? `# ${day}\n` : "" }, call);
      } catch (error) {
        if (isSvcError(error, "unsafe-file")) return refused(error.message);
        throw error;
      }
    },
  };
}

interface Note {
  workspace: string;
  parts: readonly string[];
  entry: string;
  /** First line of a new file. */
  title: string;
}

async function append(host: AppendHost, { workspace, parts, entry, title }: Note, call: ToolCall): Promise<ToolResult> {
  let line = 1;
  await replaceContained(workspace, parts, (before) => {
    call.signal.throwIfAborted();
    const old = before?.bytes ?? Buffer.from(title);
    const gap = old.length === 0 || old.at(-1) === 0x0a ? "" : "\n";
    const start = Buffer.concat([old, Buffer.from(gap + (title !== "" && old.length === title.length ? "\n" : ""))]);
    line = 1 + start.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 0);
    return Buffer.concat([start, Buffer.from(`${entry}\n`)]);
  });
  const path = parts.join("/");
  const later = (await indexedSoon(host, call)) ? "" : "; the search finds it a little later";
  return { content: [{ type: "text", text: `Noted in ${path}, line ${line}${later}` }], details: { path, line } };
}

/** A point of a list, unless it has a form of its own. What anybody may have a word in says where it comes from. */
function entryOf(note: string, { sessionKey, origin }: ToolCall): string {
  const hasForm = /^(?:[-*+#>|]|\d{1,9}[.)])/.test(note) || note.includes("\n");
  const entry = `${hasForm ? "" : "- "}${note}`;
  return origin === "anybody" ? labelled(entry, sessionKey) : entry;
}

function refused(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** By the machine's time zone, as the prompt names days. */
function isoDay(day: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(day.getFullYear()).padStart(4, "0")}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
