import { blank } from "./blank.ts";
import type { Finding } from "./house-rules.ts";

/** Files that operators have and this repository does not: what shapes an agent, its notes, and a plugin's own page. */
const operatorFiles = /^(?:[A-Z]+\.md|memory\/.*|.*[*<>].*)$/;
const page = /(?<![\w./*<>-])(?:[\w*<>-][\w./*<>-]*)?[\w*>-]\.md(?![\w-])/g;
const decision = /\b(?:ADR |adr\/)(\d{4})\b/g;
/** A number behind the name of a page: ours have headings, not numbers. The other form is the number of a threat or requirement in a list elsewhere. */
const numbered = /\.md`? (?:§ ?)?(?:\d|[A-Z]-?\d)|(?<![\w-])[A-Z]-\d{2}(?![\w-])/g;

/** Comments of a source text at their places, with everything else blanked. */
export function commentsOf(source: string): string {
  const code = blank(source);
  return source.replace(/./g, (c, i: number) => (c === code[i] ? " " : c));
}

/** Citations in the comments of a source, or in a page, that lead to nothing in the repository. */
export function danglingCitations(file: string, source: string, paths: readonly string[]): Finding[] {
  const text = file.endsWith(".md") ? source.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, " ")) : commentsOf(source);
  const isPage = (name: string) => {
    const wanted = name.replace(/^(?:\.{1,2}\/)+/, "");
    return operatorFiles.test(wanted) || paths.some((path) => path === wanted || path.endsWith(`/${wanted}`));
  };
  const isDecision = (number: string) => paths.some((path) => path.startsWith(`kernel/adr/${number}-`));
  const found = [
    ...[...text.matchAll(page)].filter(([name]) => !isPage(name)),
    ...[...text.matchAll(decision)].filter(([, number = ""]) => !isDecision(number)),
    ...text.matchAll(numbered),
  ];
  return found.map((match) => ({ file, line: text.slice(0, match.index).split("\n").length, text: match[0] }));
}
