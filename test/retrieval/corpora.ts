import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { x as extractTar } from "tar";
import { splitLines } from "../../plugins/memory-core/engine/chunker.ts";
import { readOutline } from "../../plugins/memory-core/engine/headings.ts";
import { registryEnv } from "../servers/registry.ts";

const npm = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
const folder = join(import.meta.dirname, "questions");

/** One file of `questions/`: a package, which of its folders are the corpus, and questions as kind, text and answers. */
interface QuestionFile {
  package: string;
  version: string;
  /** Folder or file of the package → where it stands in the corpus. */
  folders: Record<string, string>;
  questions: Array<[kind: string, ask: string, answers: string[]]>;
}

export interface Question {
  /** `q`: a sentence, `k`: keywords, `t`: misspelt, `i`: other forms of the words, else the language. */
  kind: string;
  ask: string;
  answers: readonly string[];
  /** Held out: not looked at while the ranking is tuned. */
  isHeld: boolean;
}

/** Lines of a file, both inclusive. */
export interface Passage {
  path: string;
  startLine: number;
  endLine: number;
}

/** The documentation of one package with the questions about it. */
export interface Corpus {
  name: string;
  version: string;
  /** Text by path; every file ends in `.md`. */
  files: Record<string, string>;
  questions: Question[];
  /** The answers of a question that a passage shows. */
  shown(question: Question, passage: Passage): string[];
  /** Answers that name no section of the corpus. */
  unknown(): string[];
}

export function questionFiles(): QuestionFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as QuestionFile);
}

/** Every other question of a file is held out. */
export function questionsOf({ questions }: QuestionFile): Question[] {
  return questions.map(([kind, ask, answers], at) => ({ kind, ask, answers, isHeld: at % 2 === 1 }));
}

/** Downloads the packages, without what they depend on, each below its name. @returns the corpora */
export async function fetchCorpora(into: string): Promise<Corpus[]> {
  const corpora: Corpus[] = [];
  for (const file of questionFiles()) {
    const place = join(into, file.package.replaceAll("/", "+"));
    mkdirSync(place, { recursive: true });
    const args = [npm, "pack", `${file.package}@${file.version}`, "--pack-destination", place, "--silent"];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: place,
      env: { PATH: process.env.PATH, ...registryEnv() },
      timeout: 300_000,
    });
    await extractTar({ file: join(place, stdout.trim().split("\n").at(-1) ?? ""), cwd: place });
    corpora.push(readCorpus(file, join(place, "package")));
  }
  return corpora;
}

export function readCorpus(file: QuestionFile, root: string): Corpus {
  const files = Object.fromEntries(Object.entries(file.folders).flatMap(([from, to]) => filesBelow(join(root, from), to)));
  const places = new Map(Object.entries(files).map(([path, text]) => [path, sectionsOf(text)]));
  const questions = questionsOf(file);
  const known = new Map<string, Passage[]>();
  const stretches = (answer: string) => {
    const found = known.get(answer) ?? stretchesOf(answer, places, files);
    known.set(answer, found);
    return found;
  };
  return {
    name: file.package,
    version: file.version,
    files,
    questions,
    shown: ({ answers }, passage) => answers.filter((answer) => stretches(answer).some((stretch) => isShown(stretch, passage))),
    unknown: () => questions.flatMap(({ answers }) => answers.filter((answer) => stretches(answer).length === 0)),
  };
}

function filesBelow(from: string, to: string): Array<[string, string]> {
  if (statSync(from).isFile()) return [[to, readFileSync(from, "utf8")]];
  const names = readdirSync(from, { recursive: true, encoding: "utf8" }).filter((name) => /\.mdx?$/.test(name));
  return names.sort().map((name) => [join(to, name).replace(/\.mdx$/, ".md"), readFileSync(join(from, name), "utf8")]);
}

interface Section {
  name: string;
  startLine: number;
  endLine: number;
}

/** From each heading to the next one of any level, so that a long chapter is not one answer. */
function sectionsOf(text: string): Section[] {
  const lines = splitLines(text);
  const { headings } = readOutline(lines);
  return headings.map((heading, index) => ({
    name: sectionName(heading.trail.at(-1) ?? ""),
    startLine: heading.line,
    endLine: (headings[index + 1]?.line ?? lines.length + 1) - 1,
  }));
}

/** A heading as answers name it: no marks, links, anchors or signature, in lower case. */
export function sectionName(heading: string): string {
  return heading
    .replace(/<a [^>]*>|<\/a>/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/(?<!\s)\s*[({][^>]*$/, "")
    .replace(/:$/, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/**
 * Where an answer is: `path` is the whole file, `path#heading` a section, `*#heading` that section in any file, each as good as the others; `~text` at the end
 * is the first line there that has the text.
 */
function stretchesOf(answer: string, places: ReadonlyMap<string, Section[]>, files: Record<string, string>): Passage[] {
  const [place = "", text] = answer.split("~");
  const at = place.indexOf("#");
  const path = at < 0 ? place : place.slice(0, at);
  const found = [...places].filter(([name]) => path === "*" || name === path);
  return found.flatMap(([name, sections]) => {
    const lines = splitLines(files[name] ?? "");
    const wanted =
      at < 0 ? [{ startLine: 1, endLine: lines.length }] : sections.filter(({ name }) => name === sectionName(place.slice(at + 1)));
    return wanted.flatMap(({ startLine, endLine }) => {
      if (text === undefined) return [{ path: name, startLine, endLine }];
      const line = lines.findIndex((one, index) => index + 1 >= startLine && index < endLine && one.includes(text)) + 1;
      return line === 0 ? [] : [{ path: name, startLine: line, endLine: line }];
    });
  });
}

/** A passage shows a stretch when it has three lines of it, or all. */
function isShown(stretch: Passage, { path, startLine, endLine }: Passage): boolean {
  if (path !== stretch.path) return false;
  const common = Math.min(endLine, stretch.endLine) - Math.max(startLine, stretch.startLine) + 1;
  return common >= Math.min(3, stretch.endLine - stretch.startLine + 1);
}
