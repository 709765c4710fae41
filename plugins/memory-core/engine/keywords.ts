import type { Tokenizer } from "../index-settings.ts";
import { hasCjk } from "./cjk.ts";
import { isStopWord, koreanParticles, languagesOf, type StopWordLanguage } from "./stop-words.ts";

const words = /[\p{L}\p{M}\p{N}_]+/gu;
const scriptRuns =
  /[\p{Script=Han}\u3005]+|[\p{Script=Katakana}\u30fc]+|\p{Script=Hiragana}+|[^\p{Script=Han}\u3005\p{Script=Katakana}\u30fc\p{Script=Hiragana}]+/gu;

/** Extracts the keywords of a question: its words without stop words, split the way the tokenizer needs. In order, each once. */
export function extractKeywords(query: string, tokenizer: Tokenizer): string[] {
  const found = new Set<string>();
  const asked = query.normalize("NFC").toLowerCase().match(words) ?? [];
  const languages = languagesOf(asked);
  for (const word of asked) {
    for (const term of hasCjk(word) ? cjkTerms(word, tokenizer) : [word]) {
      if (isKeyword(term, languages)) found.add(term);
    }
  }
  return [...found];
}

function isKeyword(term: string, languages: readonly StopWordLanguage[]): boolean {
  if (isStopWord(term, languages) || !/[\p{L}\p{N}]/u.test(term)) return false;
  if (/^\p{N}+$/u.test(term)) return term.length >= 3;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range as a whole
  return !/^[\x00-\x7f]{1,2}$/.test(term) || /\d/.test(term);
}

function cjkTerms(word: string, tokenizer: Tokenizer): string[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return japaneseTerms(word);
  if (/\p{Script=Hangul}/u.test(word)) return koreanTerms(word);
  return (word.match(scriptRuns) ?? []).flatMap((run) => (hasCjk(run) ? chineseTerms(run, tokenizer) : [run]));
}

function japaneseTerms(word: string): string[] {
  return (word.match(scriptRuns) ?? []).filter((run) => !/^\p{Script=Hiragana}$/u.test(run));
}

function koreanTerms(word: string): string[] {
  const particle = koreanParticles.find((p) => word.endsWith(p) && word.length - p.length >= 2);
  return particle ? [word, word.slice(0, -particle.length)] : [word];
}

/**
 * Characters and neighbouring pairs. Under `trigram` single characters are left out and the whole run is added: it can be
 * matched there, but hardly ever stands in a note as it was asked, so the pairs stay.
 */
function chineseTerms(run: string, tokenizer: Tokenizer): string[] {
  const characters = [...run];
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return tokenizer === "unicode61" ? [...characters, ...pairs] : [run, ...pairs];
}
