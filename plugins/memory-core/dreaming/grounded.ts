import { conceptTags } from "./concept-tags.ts";
import { spokenDay } from "./days.ts";
import { type Snippet, snippetsOf } from "./snippets.ts";

/** A historical daily note. */
export interface HistoricalNote {
  /** Relative to the workspace. */
  path: string;
  day: string;
  text: string;
}

/** Part of a grounded entry: a statement and where it stands. */
export interface GroundedItem {
  text: string;
  /** `memory/2026-04-01.md:3`, several of a reflection */
  refs: string[];
  snippet?: Snippet;
}

/** Content of a historical note, each part with its lines. */
export interface GroundedEntry {
  day: string;
  path: string;
  happened: GroundedItem[];
  reflections: GroundedItem[];
  candidates: GroundedItem[];
  lasting: GroundedItem[];
}

const MAX_HAPPENED = 6;
const MAX_REFLECTIONS = 3;
const MAX_CANDIDATES = 6;
const MAX_LASTING = 3;
/** Cues at which a candidate is likely to last. */
const STRONG = 2;

/** Words of statements that hold for longer than a day. */
const cues: readonly RegExp[] = [
  /\b(?:prefers?|likes?|loves?|hates?|dislikes?|favou?rite|wants? to|would rather)\b/i,
  /\b(?:always|never|every (?:day|week|month|year|morning|evening|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|usually|from now on|no longer)\b/i,
  /\b(?:decided|agreed|promised|chose|rule|policy|must|should)\b/i,
  /\b(?:birthday|anniversary|allerg(?:y|ic)|address|phone|number|code|size|account|doctor|dentist|plumber|landlord)\b/i,
  /\b(?:lives?|works?|moved|born|married|called|named|belongs|stands|kept|keeps|is in|are in)\b/i,
  /\b(?:deadline|due|starts?|begins?|ends?|until|by (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b/i,
];

/** Reads a historical note. Pure. */
export function groundedEntry({ path, day, text }: HistoricalNote): GroundedEntry {
  const snippets = snippetsOf(text);
  const item = (snippet: Snippet): GroundedItem => ({ text: snippet.text, refs: [`${path}:${snippet.startLine}`], snippet });
  const weighed = snippets
    .filter(({ isUntrusted }) => !isUntrusted)
    .map((snippet) => ({ snippet, cues: cues.filter((cue) => cue.test(snippet.text)).length }))
    .filter((one) => one.cues > 0)
    .sort((a, b) => b.cues - a.cues || a.snippet.startLine - b.snippet.startLine);
  return {
    day,
    path,
    happened: snippets.slice(0, MAX_HAPPENED).map(item),
    reflections: reflectionsOf(snippets, path),
    candidates: weighed.slice(0, MAX_CANDIDATES).map(({ snippet }) => item(snippet)),
    lasting: weighed
      .filter((one) => one.cues >= STRONG)
      .slice(0, MAX_LASTING)
      .map(({ snippet }) => item(snippet)),
  };
}

/** Subjects that several statements of the day share. */
function reflectionsOf(snippets: readonly Snippet[], path: string): GroundedItem[] {
  const lines = new Map<string, number[]>();
  for (const { text, startLine } of snippets)
    for (const tag of conceptTags(path, text)) lines.set(tag, [...(lines.get(tag) ?? []), startLine]);
  return [...lines]
    .filter(([, at]) => at.length >= 2)
    .sort(([a, at], [b, bt]) => bt.length - at.length || a.localeCompare(b))
    .slice(0, MAX_REFLECTIONS)
    .map(([tag, at]) => ({ text: `“${tag}” came up ${at.length} times.`, refs: at.slice(0, 4).map((line) => `${path}:${line}`) }));
}

const MARK = "svc:dreaming:backfill-entry";

/** An entry of the diary, with the comment by which it is found again. Pure. */
export function groundedText({ day, path, happened, reflections, candidates, lasting }: GroundedEntry): string {
  const part = (title: string, items: readonly GroundedItem[]) =>
    items.length === 0 ? "" : `\n**${title}**\n\n${items.map(({ text, refs }) => `- ${text} [${refs.join(", ")}]`).join("\n")}\n`;
  const parts = [
    part("What Happened", happened),
    part("Reflections", reflections),
    part("Candidates", candidates),
    part("Possible Lasting Updates", lasting),
  ];
  return `<!-- ${MARK} day=${day} source=${path} -->\n*${spokenDay(day)}*\n${parts.join("")}`;
}

/** True for an entry of the diary that a backfill has made. */
export function isBackfillEntry(entry: string): boolean {
  return entry.trimStart().startsWith(`<!-- ${MARK} `);
}
