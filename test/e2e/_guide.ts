/** One code block of a guide. */
export interface GuideBlock {
  language: string;
  /** Of a first line `// file: <path>`, `# file: <path>` or `<!-- file: <path> -->`. */
  file?: string;
  text: string;
}

/** The code blocks of a page, in order. A block that names its file is given without that line. */
export function guideBlocks(markdown: string): GuideBlock[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => {
    const named = /^(?:\/\/|#|<!--) file: (\S+)(?: -->)?\n/.exec(body);
    return named ? { language, file: named[1] as string, text: body.slice(named[0].length) } : { language, text: body };
  });
}

/** Lines of a block as a shell reads them: one that ends in a backslash goes on in the next. */
export function shellLines(text: string): string[] {
  return text
    .trim()
    .split(/(?<!\\)\n/)
    .filter((line) => line.trim() !== "");
}
