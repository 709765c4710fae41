/**
 * Characters that look like another one without being a compatibility form of it, by the character they resemble: angle brackets, and letters from
 * Unicode `confusables.txt` (ASCII, Cyrillic, Greek, Armenian, Cherokee, Lisu and the small capitals).
 */
const lookAlikes: ReadonlyArray<readonly [ascii: string, characters: string]> = [
  ["<", "\u2329\u3008\u2039\u27e8\ufe64\u00ab\u300a\u27ea\u27ec\u27ee\u276c\u276e\u2770\u02c2\u1438\u29fc\u2991"],
  [">", "\u232a\u3009\u203a\u27e9\ufe65\u00bb\u300b\u27eb\u27ed\u27ef\u276d\u276f\u2771\u02c3\u1433\u29fd\u2992"],
  ["<<", "\u226a\u2aa1"],
  [">>", "\u226b\u2aa2"],
  ["<<<", "\u22d8\u2af7"],
  [">>>", "\u22d9\u2af8"],
  ["_", "\u203f\u2040\u2581\u02cd\u2017\ufe58"],
  ["-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7"],
  ["|", "\u01c0\u2223\u2758\u00a6\u2502\u2503\u05c0"],
  ["/", "\u2044\u2215\u29f8"],
  ["=", "\ua78a\u30a0\u2e40"],
  ['"', "\u201c\u201d\u201e\u201f\u2033\u02ba\u02ee"],
  ["'", "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\u00b4"],
  ["[", "\u2772\u3014\u3016\u301a\u2045"],
  ["]", "\u2773\u3015\u3017\u301b\u2046"],
  ["a", "\u0430\u0410\u0391\u03b1\u0251\u1d00\u13aa\ua4ee\u15c5"],
  ["b", "\u0412\u0392\u0432\u0299\u13f4\ua4d0\u042c"],
  ["c", "\u0441\u0421\u03f2\u03f9\u1d04\u13df\ua4da\u0421\u2ca4\u2ca5"],
  ["d", "\u0501\u0500\u1d05\u13a0\ua4d3\u146f\u0256"],
  ["e", "\u0435\u0415\u0395\u03b5\u1d07\u13ac\ua4f0\u0454\u0404\u2107\u212e\u04bd\u0451\u0401"],
  ["f", "\u03dc\u03dd\ua730\ua4dd\u0192"],
  ["g", "\u050d\u050c\u0261\u0262\u13c0\ua4d6"],
  ["h", "\u041d\u0397\u043d\u029c\u04bb\u13bb\ua4e7\u0570"],
  ["i", "\u0456\u0406\u0399\u03b9\u026a\u0131\u04c0\u04cf\u13a5\ua4f2\u2c92\u2c93\u0457\u0407"],
  ["j", "\u0458\u0408\u03f3\u1d0a\u13ab\ua4d9"],
  ["k", "\u043a\u041a\u039a\u03ba\u1d0b\u13e6\ua4d7"],
  ["l", "\u029f\u13de\ua4e1\u053c\u2c9f"],
  ["m", "\u043c\u041c\u039c\u1d0d\u13b7\ua4df"],
  ["n", "\u039d\u0274\u0578\u057c\ua4e0\u03b7\u043f\u2c9a"],
  ["o", "\u043e\u041e\u039f\u03bf\u03c3\u1d0f\ua4f3\u0585\u0555\u2c9e\u0665\u06c1"],
  ["p", "\u0440\u0420\u03a1\u03c1\u1d18\u13e2\ua4d1"],
  ["q", "\u051b\u051a\u0566"],
  ["r", "\u0433\u0280\u13a1\u13d2\ua4e3\u1d26\u0491"],
  ["s", "\u0455\u0405\ua731\u13da\ua4e2\u054f\u01bd"],
  ["t", "\u0442\u0422\u03a4\u03c4\u1d1b\u13a2\ua4d4\u04ad\u04ac"],
  ["u", "\u1d1c\u057d\u054d\u03c5\u028b\ua4f4\u1200\u0446\u0438"],
  ["v", "\u03bd\u0475\u0474\u1d20\u13d9\ua4e6"],
  ["w", "\u0461\u051d\u051c\u1d21\u13b3\ua4ea\u03c9"],
  ["x", "\u0445\u0425\u03a7\u03c7\u00d7\ua4eb\u2573\u166d\u04b3\u04b2"],
  ["y", "\u0443\u0423\u03a5\u03b3\u028f\ua4ec\u04af\u04ae"],
  ["z", "\u0396\u1d22\u13c3\ua4dc"],
];

const byCharacter = new Map(lookAlikes.flatMap(([ascii, characters]) => [...characters].map((character) => [character, ascii] as const)));

/** Character that a character looks like, in lower case, if it is another one. */
export function lookAlike(character: string): string | undefined {
  return byCharacter.get(character);
}

/** Every character that looks like a text which begins with this one. */
export function charactersLike(ascii: string): string {
  return lookAlikes.flatMap(([text, characters]) => (text.startsWith(ascii) ? [characters] : [])).join("");
}
