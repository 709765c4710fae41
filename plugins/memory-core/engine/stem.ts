const shortest = 4;

/**
 * The beginning that the forms of an English word share: `retries`, `retried`, `retrying` → `retr`. Undefined for words that are too short to be cut, and for
 * anything but plain letters. It is meant for prefixes beside the word itself, so cutting a little too much or too little does no harm.
 */
export function stemOf(word: string): string | undefined {
  if (!/^[a-z]+$/.test(word)) return undefined;
  const stem = withoutVowelEnd(withoutDouble(withoutVerbEnd(withoutPlural(word))));
  return stem.length >= shortest ? stem : undefined;
}

function withoutPlural(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return word.slice(0, -2);
  if (word.length > 4 && /(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutVerbEnd(word: string): string {
  if (word.length > 5 && word.endsWith("ing") && /[aeiouy]/.test(word.slice(0, -3))) return word.slice(0, -3);
  return word.length > 4 && word.endsWith("ed") && /[aeiouy]/.test(word.slice(0, -2)) ? word.slice(0, -2) : word;
}

/** `dropp` of `dropped`. */
function withoutDouble(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

function withoutVowelEnd(word: string): string {
  if (word.length > 5 && word.endsWith("ie")) return word.slice(0, -2);
  return word.length > 4 && /[eyi]$/.test(word) ? word.slice(0, -1) : word;
}
