/** Scripts that are written without spaces between words, or with particles glued to them; `unicode61` makes one token of a run. */
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc\u3005]/u;

export function hasCjk(text: string): boolean {
  return cjk.test(text);
}
