import { languageStem, type StemLanguage, stemOf } from "./stem.ts";
import { languagesOf } from "./stop-words.ts";
import { foldWord, type Vocabulary } from "./vocabulary.ts";

/** One keyword of a question with everything in the index that counts as it. */
export interface TermGroup {
  /** The keyword as it was asked, folded. */
  word: string;
  /** Folded words or neighbouring words, with their weight: 1 for the word itself. */
  forms: Map<string, number>;
  /** Beginning of other words that count a little, as `cach` of `CacheStorage`. */
  beginning?: string | undefined;
  /** Passages that have the word, or when the index has it not, at most those that have a form of it. */
  passages: number;
}

/** Weight of a form beside the word itself. */
const formWeights = { inflected: 0.9, related: 0.45, joined: 0.9, misspelt: 0.8 };

const stemLanguages: ReadonlySet<string> = new Set<StemLanguage>([
  "english",
  "german",
  "french",
  "spanish",
  "portuguese",
  "italian",
  "dutch",
  "russian",
]);
const LONGEST_JOIN = 3;
const SHORTEST_JOINED = 5;
const tokens = /[\p{L}\p{N}]+/gu;

export interface ExpansionScope {
  vocabulary: Vocabulary;
  /** Passages of the index. */
  chunks: number;
}

/** A word in more than this share of the passages is found often enough as it is. */
const COMMON_SHARE = 0.2;

/**
 * Finds what else the index may call the keywords of a question: other forms of a word by the question's language, two or three neighbours written as one
 * (`body limit`, `bodyLimit`), and for a word that the index has not the nearest one that it has.
 */
export function expandKeywords(text: string, keywords: readonly string[], { vocabulary, chunks }: ExpansionScope): TermGroup[] {
  const sequence = (text.toLowerCase().match(tokens) ?? []).map(foldWord);
  const languages = languagesToStem(text.toLowerCase().match(tokens) ?? []);
  const groups = new Map<string, TermGroup>();
  for (const keyword of keywords) {
    const word = foldWord(keyword);
    if (groups.has(word)) continue;
    const passages = vocabulary.count(word);
    const isCommon = passages > COMMON_SHARE * chunks;
    const forms = isCommon ? new Map([[word, 1]]) : formsFor(word, { languages, vocabulary, isKnown: passages > 0 });
    groups.set(word, { word, forms, passages, beginning: isCommon ? undefined : beginningOf(word, languages) });
  }
  for (const { parts, joined } of joinsOf(sequence)) {
    const owners = parts.flatMap((part) => groups.get(part) ?? []);
    if (owners.length === 0 || vocabulary.count(joined) === 0) continue;
    for (const { forms } of owners) addForm(forms, joined, formWeights.joined);
  }
  for (const group of groups.values()) {
    if (group.passages === 0) group.passages = [...group.forms.keys()].reduce((sum, form) => sum + vocabulary.count(form), 0);
  }
  return [...groups.values()];
}

function formsFor(
  word: string,
  { languages, vocabulary, isKnown }: { languages: readonly StemLanguage[]; vocabulary: Vocabulary; isKnown: boolean },
): Map<string, number> {
  const forms = new Map([[word, 1]]);
  for (const form of vocabulary.formsOf(word, languages)) {
    addForm(forms, form, isInflected(word, form, languages) ? formWeights.inflected : formWeights.related);
  }
  if (forms.size > 1 || isKnown) return forms;
  for (const near of vocabulary.nearTo(word)) {
    addForm(forms, near, formWeights.misspelt);
    for (const form of vocabulary.formsOf(near, languages)) addForm(forms, form, formWeights.misspelt * formWeights.inflected);
  }
  return forms;
}

function beginningOf(word: string, languages: readonly StemLanguage[]): string | undefined {
  const [language = "english"] = languages;
  if (language === "english") return stemOf(word);
  const stem = languageStem(word, language);
  return stem.length >= SHORTEST_JOINED ? stem : undefined;
}

function addForm(forms: Map<string, number>, form: string, weight: number): void {
  forms.set(form, Math.max(weight, forms.get(form) ?? 0));
}

/** Another form of the word rather than another word of its family. */
function isInflected(word: string, form: string, languages: readonly StemLanguage[]): boolean {
  if (languages.some((language) => language !== "english" && languageStem(word, language) === languageStem(form, language))) return true;
  return (stemOf(word) ?? word) === (stemOf(form) ?? form);
}

/** Two and three words in a row. */
function joinsOf(sequence: readonly string[]): Array<{ parts: string[]; joined: string }> {
  const joins: Array<{ parts: string[]; joined: string }> = [];
  for (let length = 2; length <= LONGEST_JOIN; length++) {
    for (let at = 0; at + length <= sequence.length; at++) {
      const parts = sequence.slice(at, at + length);
      const joined = parts.join("");
      if (joined.length >= SHORTEST_JOINED) joins.push({ parts, joined });
    }
  }
  return joins;
}

/** Languages by whose rules words are cut: those of the question; when it does not tell, those that have such letters. */
function languagesToStem(words: readonly string[]): StemLanguage[] {
  const told = languagesOf(words).filter((language): language is StemLanguage => stemLanguages.has(language));
  if (told.length > 0) return told;
  if (words.some((word) => /\p{Script=Cyrillic}/u.test(word))) return ["russian"];
  return words.some((word) => /[^\p{ASCII}]/u.test(word))
    ? ["english", "german", "french", "spanish", "portuguese", "italian"]
    : ["english"];
}
