const wordPattern = /[\p{L}\p{N}_]+/gu;
const unspacedScript = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Longest common beginning that still tells words apart; makes "boilers" meet "boiler". */
const STEM_CHARS = 5;

/** The comparable forms of the words in a text; scripts without spaces give pairs of characters. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(wordPattern)) {
    if (!unspacedScript.test(word)) terms.add(word.slice(0, STEM_CHARS));
    else {
      const chars = [...word];
      if (chars.length === 1) terms.add(word);
      for (let i = 0; i + 1 < chars.length; i++) terms.add(`${chars[i]}${chars[i + 1]}`);
    }
  }
  return terms;
}

/** Words a question is made of rather than about. A short list: memory did the search, this only picks lines. */
const questionWords = termsOf(
  "a an the and or of to in on at is are was were be been do does did has have had will would can could should may i me my we us our you your he she his her they their it its " +
    "this that these those there here what when where which who whom whose why how about with from for into any some please tell show find give know say said",
);

/** Weight of each telling term of a question. Rarity is no guide here: what was asked about is in every hit. Long words and numbers tell more. */
export function weighTerms(question: string): Map<string, number> {
  const telling = [...termsOf(question)].filter((term) => !questionWords.has(term));
  return new Map(
    telling.map((term) => [term, /\p{N}/u.test(term) || unspacedScript.test(term) ? 1 : Math.min(term.length, STEM_CHARS) / STEM_CHARS]),
  );
}

/** Summed weight of the question's terms that occur in a text. */
export function weightOf(text: string, weights: Map<string, number>): number {
  let sum = 0;
  for (const term of termsOf(text)) sum += weights.get(term) ?? 0;
  return sum;
}
