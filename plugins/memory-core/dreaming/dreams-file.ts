import { spokenDay } from "./days.ts";
import type { Staged } from "./light.ts";
import type { Promotion, Skipped } from "./promote.ts";
import type { Theme, Truth } from "./rem.ts";
import { changeText, presentName, readText } from "./state-files.ts";

/** Managed parts of the file for people. */
export type Block = "diary" | "light" | "rem" | "deep";

const headings: Record<Exclude<Block, "diary">, string> = { light: "Light Sleep", rem: "REM Sleep", deep: "Deep Sleep" };
/** Entries of a list in a summary. */
const MAX_LISTED = 20;

/** Name of the file for people, in capitals unless one in small letters is there. */
export function dreamsName(workspace: string): Promise<string> {
  return presentName(workspace, ["DREAMS.md", "dreams.md"]);
}

export async function readDreams(workspace: string): Promise<string | undefined> {
  return readText(workspace, [await dreamsName(workspace)]);
}

/** Changes the file for people. @throws {SvcError} `unsafe-file` for a link, or anything but a regular file */
export async function changeDreams(workspace: string, change: (text: string) => string): Promise<void> {
  await changeText(workspace, [await dreamsName(workspace)], (before) =>
    change(before === undefined || before.trim() === "" ? "# Dreams\n" : before),
  );
}

const start = (block: Block) => `<!-- svc:dreaming:${block}:start -->`;
const end = (block: Block) => `<!-- svc:dreaming:${block}:end -->`;

/** Text between the comments of a block; undefined without a whole one. */
export function blockOf(text: string, block: Block): string | undefined {
  const at = placeOf(text, block);
  return at && text.slice(at.from, at.to);
}

/** The last whole block: one whose end somebody has deleted is left as text. */
function placeOf(text: string, block: Block): { from: number; to: number } | undefined {
  const to = text.lastIndexOf(end(block));
  const begin = to < 0 ? -1 : text.lastIndexOf(start(block), to);
  return begin < 0 ? undefined : { from: begin + start(block).length, to };
}

/** The text with this block replaced in place, or added: the diary below the title, summaries at the end. Pure. */
export function withBlock(text: string, block: Block, body: string): string {
  const at = placeOf(text, block);
  const inside = `\n${body.trim()}${body.trim() === "" ? "" : "\n"}`;
  if (at) return `${text.slice(0, at.from)}${inside}${text.slice(at.to)}`;
  const made = `${start(block)}${inside}${end(block)}\n`;
  if (block !== "diary") return `${text.trimEnd()}\n\n## ${headings[block]}\n\n${made}`;
  const title = /^# .*\n/.exec(text)?.[0] ?? "";
  const rest = text.slice(title.length).replace(/^\n+/, "");
  return `${title}${title === "" ? "" : "\n"}${made}${rest === "" ? "" : `\n${rest}`}`;
}

/** Appends an entry to the diary. Pure. */
export function withDiaryEntry(text: string, { day, prose }: { day: string; prose: string }): string {
  const before = blockOf(text, "diary")?.trim() ?? "";
  const entry = `---\n\n*${spokenDay(day)}*\n\n${prose.trim()}`;
  return withBlock(text, "diary", before === "" ? entry : `${before}\n\n${entry}`);
}

/** True when the diary has an entry of a sweep on this day. */
export function hasDiaryEntry(text: string, day: string): boolean {
  return entriesOf(blockOf(text, "diary") ?? "").some(
    (entry) => !entry.includes("svc:dreaming:backfill-entry") && entry.trimStart().startsWith(`*${spokenDay(day)}*`),
  );
}

/** Entries of a diary, each without the rule before it. */
export function entriesOf(diary: string): string[] {
  return diary.split(/^---$/m).filter((entry) => entry.trim() !== "");
}

/** Text safe in a list of the file: no comment may end or begin in it. */
function plain(text: string): string {
  return text
    .replace(/<!--|-->/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Summary of a light phase. Pure. */
export function lightSummary(staged: readonly Staged[], day: string): string {
  const rows = staged.slice(0, MAX_LISTED).map(({ entry, merged, confidence, recalls }) => {
    const evidence = `${entry.path}:${entry.startLine}-${entry.endLine}${merged.length > 0 ? ` and ${merged.length} more like it` : ""}`;
    return `- Candidate: ${plain(entry.snippet)}\n  - confidence: ${confidence.toFixed(2)}\n  - evidence: ${evidence}\n  - recalls: ${recalls}\n  - status: staged`;
  });
  return [`*${spokenDay(day)}*, ${staged.length} staged.`, ...more(rows, staged.length)].join("\n");
}

/** Summary of a REM phase. Pure. */
export function remSummary({ themes, truths }: { themes: readonly Theme[]; truths: readonly Truth[] }, day: string): string {
  const themeRows = themes.map(
    ({ tag, count, strength }) => `- Theme: ${plain(tag)}, in ${count} entries, strength ${strength.toFixed(2)}`,
  );
  const truthRows = truths.map(
    ({ entry, confidence }) =>
      `- Possible lasting truth: ${plain(entry.snippet)}\n  - confidence: ${confidence.toFixed(2)}\n  - evidence: ${entry.path}:${entry.startLine}-${entry.endLine}`,
  );
  const rows = [...themeRows, ...truthRows];
  return [`*${spokenDay(day)}*`, ...(rows.length > 0 ? rows : ["No theme and no lasting truth stood out."])].join("\n");
}

/** Summary of a deep phase. Pure. */
export function deepSummary(
  { applied, skipped, ranked }: { applied: readonly Promotion[]; skipped: readonly Skipped[]; ranked: number },
  day: string,
): string {
  const rows = applied.map(({ text, score, source }) => `- Promoted: ${plain(text)} (score ${score.toFixed(3)}, ${source})`);
  const left = skipped.slice(0, MAX_LISTED).map(({ key, reason }) => `- Left: ${plain(key)}: ${plain(reason)}`);
  return [`*${spokenDay(day)}*, ${ranked} ranked, ${applied.length} promoted.`, ...rows, ...more(left, skipped.length)].join("\n");
}

function more(rows: readonly string[], total: number): string[] {
  return total > rows.length ? [...rows, `- and ${total - rows.length} more`] : [...rows];
}
