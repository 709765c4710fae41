/**
 * Matches paths against a pattern: `*` and `?` stay within one name, `**` is any number of folders. A pattern without a slash is about the last name. Takes time in proportion
 * to the lengths of both, multiplied, whatever the pattern.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const wanted = pattern.split("/").filter((part) => part !== "");
  if (wanted.length <= 1) return (path) => matchesName(path.slice(path.lastIndexOf("/") + 1), wanted[0] ?? "*");
  return (path) => {
    const names = path.split("/");
    return matchesSequence(names, wanted, { isMany: (part) => part === "**", fits: matchesName });
  };
}

/** `*` stands for any text, `?` for one character. */
export function matchesName(name: string, pattern: string): boolean {
  return matchesSequence([...name], [...pattern], { isMany: (part) => part === "*", fits: (one, part) => part === "?" || one === part });
}

/** The last wildcard alone is ever tried again: what comes before it has matched as early as it can. */
function matchesSequence(
  items: readonly string[],
  pattern: readonly string[],
  { isMany, fits }: { isMany(part: string): boolean; fits(item: string, part: string): boolean },
): boolean {
  let at = 0;
  let part = 0;
  let again: { at: number; part: number } | undefined;
  while (at < items.length) {
    const wanted = pattern[part];
    if (wanted !== undefined && isMany(wanted)) {
      again = { at, part };
      part += 1;
    } else if (wanted !== undefined && fits(items[at] ?? "", wanted)) {
      at += 1;
      part += 1;
    } else if (again) {
      again = { at: again.at + 1, part: again.part };
      at = again.at;
      part = again.part + 1;
    } else return false;
  }
  return pattern.slice(part).every(isMany);
}
