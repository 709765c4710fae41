import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { splitLines } from "../engine/chunker.ts";
import { readOutline } from "../engine/headings.ts";

/** The Markdown files of a documentation, by short path, and where each of their sections is. */
export interface Corpus {
  files: Record<string, string>;
  /** Sections named `<file>#<heading>` that a stretch of lines shows. */
  sectionsIn(path: string, startLine: number, endLine: number): string[];
  has(section: string): boolean;
}

interface Section {
  name: string;
  startLine: number;
  endLine: number;
}

/** The documentation that the installed package `undici` ships. */
export function readCorpus(): Corpus {
  const root = dirname(createRequire(import.meta.url).resolve("undici/package.json"));
  const docs = join(root, "docs/docs");
  const names = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(docs, name), "utf8")]));
  files["README.md"] = readFileSync(join(root, "README.md"), "utf8");
  const sections = new Map(Object.entries(files).map(([path, text]) => [path, sectionsOf(path, text)]));
  const all = new Set([...sections.values()].flat().map((section) => section.name));
  return {
    files,
    sectionsIn(path, startLine, endLine) {
      const shown = (sections.get(path) ?? []).filter((section) => section.startLine <= endLine && section.endLine >= startLine);
      return shown.map((section) => section.name);
    },
    has: (section) => all.has(section),
  };
}

/** From each heading to the next one of any level, so that a long chapter is not one answer. */
function sectionsOf(path: string, text: string): Section[] {
  const lines = splitLines(text);
  const { headings } = readOutline(lines);
  return headings.map((heading, index) => ({
    name: sectionName(path, heading.trail.at(-1) ?? ""),
    startLine: heading.line,
    endLine: (headings[index + 1]?.line ?? lines.length + 1) - 1,
  }));
}

/** Headings without marks and signatures, as the questions name them. */
export function sectionName(path: string, heading: string): string {
  return `${path}#${heading.replaceAll("`", "").replace(/(?<!\s)\s*\([\s\S]*$|:$/, "")}`;
}
