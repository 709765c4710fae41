/** Languages whose words are cut to stems. */
export type StemLanguage = "english" | "german" | "french" | "spanish" | "portuguese" | "italian" | "dutch" | "russian";

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

/**
 * Endings by language, without accents, as the index has them. A word loses the longest one that leaves four letters; forms of a word then are equal, and only words
 * that the index has are compared, so a stem need not be one in the sense of grammar.
 */
const endings: Record<Exclude<StemLanguage, "english">, readonly string[]> = table({
  german: "e en em er ern es n s st t te ten ter tes et ung ungen bar lich liche lichen licher keit heit",
  french: `s e es ee ees er ez ent ant ante ants antes ait aient ais ion ions ation ations ement ements ment eur eurs euse euses ir it ite ites is ise
    ises if ifs ive ives ique iques able ables re res te tes ons era erait ai a as ure ures age ages`,
  spanish: `s o a os as e es ar er ir ado ada ados adas ido ida idos idas ando iendo cion ciones acion aciones mente ador adora adores able ables an en
    aba aban amos emos imos aron ieron o ara ura uras aje ajes ivo iva ivos ivas`,
  portuguese: `s o a os as e es ar er ir ado ada ados adas ido ida idos idas ando endo indo cao coes acao acoes mente ador adora adores vel veis am em
    ava avam amos emos imos aram eram iram ura uras agem agens ivo iva ivos ivas`,
  italian: `o a i e are ere ire ato ata ati ate ito ita iti ite uto uta uti ute ando endo zione zioni azione azioni mente atore atori abile abili ano
    ono ava avano iamo ete ura ure ivo iva ivi ive`,
  dutch: "e en s t te ten de den er ers ing ingen heid heden lijk lijke baar bare st je jes",
  russian: `а я о е и ы у ю ь ой ей ий ый ая яя ое ее ие ые ов ев ам ям ом ем ах ях ами ями ию ия ии ть ешь ет ют ут ит ат ят ла ло ли ал ил ен на но ны
    ого его ому ему ым им ых их ся сь ение ения ению ением ость ости`,
});

/**
 * The stem of a word that stands for all its forms in a language; the word itself when nothing can be cut off.
 * @param word in lower case, without accents
 */
export function languageStem(word: string, language: StemLanguage): string {
  if (language === "english") return englishStem(word);
  const found = endings[language].find((ending) => word.length - ending.length >= shortest && word.endsWith(ending));
  return found === undefined ? word : word.slice(0, -found.length);
}

const derived = [
  "ation",
  "ations",
  "ments",
  "ment",
  "ions",
  "ion",
  "ors",
  "or",
  "ers",
  "er",
  "als",
  "al",
  "able",
  "ible",
  "ive",
  "ity",
  "ly",
];

/** Words of one family: `validate`, `validator`, `validation`. */
function englishStem(word: string): string {
  const inflected = stemOf(word) ?? word;
  const ending = derived.find((one) => inflected.length - one.length >= shortest && inflected.endsWith(one));
  const base = ending === undefined ? inflected : inflected.slice(0, -ending.length);
  const cut = base.length > shortest + 1 && base.endsWith("at") ? base.slice(0, -2) : base;
  return withoutDouble(cut.length > shortest && cut.endsWith("e") ? cut.slice(0, -1) : cut);
}

function table<T extends string>(texts: Record<T, string>): Record<T, readonly string[]> {
  const rows = Object.entries(texts) as Array<[T, string]>;
  const longestFirst = (text: string) => [...new Set(text.split(/\s+/))].sort((a, b) => b.length - a.length);
  return Object.fromEntries(rows.map(([name, text]) => [name, longestFirst(text)])) as unknown as Record<T, readonly string[]>;
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
