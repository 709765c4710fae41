/** One code block of a guide. */
export interface GuideBlock {
  language: string;
  /** Of a first line `// file: <path>` or `<!-- file: <path> -->`. */
  file?: string;
  text: string;
}

/** The code blocks of a page, in order. A block that names its file is given without that line. */
export function guideBlocks(markdown: string): GuideBlock[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => {
    const named = /^(?:\/\/|<!--) file: (\S+)(?: -->)?\n/.exec(body);
    return named ? { language, file: named[1] as string, text: body.slice(named[0].length) } : { language, text: body };
  });
}

/** Words of a command line; quotes of the shell hold them together. */
export function commandWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? "");
}
