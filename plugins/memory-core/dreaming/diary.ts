import { neutralize } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { changeDreams, hasDiaryEntry, readDreams, withDiaryEntry } from "./dreams-file.ts";
import { type DiaryMaterial, hasMaterial, plainNarrative } from "./narrative.ts";

export type { DiaryMaterial } from "./narrative.ts";

/** Means of a diary. */
export interface DiaryDeps {
  signal: AbortSignal;
  narrate?: ((material: DiaryMaterial, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

/** Shorter prose of a model says nothing; longer is cut at a sentence. */
const MIN_WORDS = 25;
const MAX_WORDS = 220;

/**
 * Writes one entry for a sweep with something new to tell, by a model or in the plain form. A second sweep of a day writes only when it promoted something.
 * @throws {SvcError} `unsafe-file`
 */
export async function writeDiary(
  workspace: string,
  material: DiaryMaterial,
  { narrate, signal }: DiaryDeps,
): Promise<"model" | "plain" | "none"> {
  if (!hasMaterial(material)) return "none";
  const isTold = (text: string) => material.promotions.length === 0 && hasDiaryEntry(text, material.day);
  if (isTold((await readDreams(workspace)) ?? "")) return "none";
  const prose = narrate && toProse((await narrate(material, signal)) ?? "");
  signal.throwIfAborted();
  await reached("dreaming.before-diary");
  await changeDreams(workspace, (text) => withDiaryEntry(text, { day: material.day, prose: prose ?? plainNarrative(material) }));
  await reached("dreaming.after-diary");
  return prose === undefined ? "plain" : "model";
}

/** Prose of a model as the diary takes it: no headings, rules, comments or fences; undefined when that leaves too little. Pure. */
export function toProse(answer: string): string | undefined {
  const paragraphs = neutralize(answer.slice(0, 8_000))
    .replace(/<!--|-->/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !/^(?:#{1,6}\s|```|~~~|-{3,}$|\*{3,}$|_{3,}$|\*[^*]{1,40}\*$)/.test(line));
  const words: string[] = [];
  const kept: string[] = [];
  for (const paragraph of paragraphs.join("\n").split(/\n{2,}/)) {
    const own = paragraph.split(/\s+/).filter((word) => word !== "");
    const room = MAX_WORDS - words.length;
    if (own.length === 0 || room <= 0) continue;
    const text = own.length <= room ? own.join(" ") : upToSentence(own.slice(0, room).join(" "));
    if (text !== "") kept.push(text);
    words.push(...own);
  }
  return words.length < MIN_WORDS || kept.length === 0 ? undefined : kept.join("\n\n");
}

function upToSentence(text: string): string {
  const end = Math.max(text.lastIndexOf(". "), text.lastIndexOf("! "), text.lastIndexOf("? "));
  return end < 0 ? "" : text.slice(0, end + 1);
}
