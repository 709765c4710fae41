/** Whether a command, word by word, fits a pattern such as `git log *`: a last `*` stands for any further words, another `*` for exactly one. */
export function fitsPattern(argv: readonly string[], pattern: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === "*";
  const words = isOpen ? pattern.slice(0, -1) : pattern;
  if (words.length === 0 || argv.length < words.length || (!isOpen && argv.length !== words.length)) return false;
  return words.every((word, i) => word === argv[i] || (word === "*" && i > 0));
}

/** A pattern of the config as its words. */
export function wordsOf(pattern: string): string[] {
  return pattern.trim().split(/\s+/);
}

/** Whether a program is the same one in every folder: named by itself, or with its whole path. */
export function isOneProgram(program = ""): boolean {
  return !program.includes("/") || program.startsWith("/");
}
