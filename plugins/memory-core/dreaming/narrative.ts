import { createHash } from "node:crypto";

/** Material of one entry of the diary. */
export interface DiaryMaterial {
  /** `YYYY-MM-DD` */
  day: string;
  agentId: string;
  /** Statements that are told for the first time. */
  snippets: readonly string[];
  themes: readonly string[];
  truths: readonly string[];
  promotions: readonly string[];
}

export const MAX_SNIPPETS = 12;
export const MAX_THEMES = 6;
export const MAX_PROMOTIONS = 5;

const MAX_QUOTED = 5;
const MAX_QUOTE_CHARS = 110;
/** Words at which enough is told. */
const ENOUGH_WORDS = 150;

/** False where there is nothing to tell: then nothing is written, and no model is asked. */
export function hasMaterial({ snippets, promotions }: DiaryMaterial): boolean {
  return snippets.length > 0 || promotions.length > 0;
}

/** Tells of a night without a language model: first person, 80 to 180 words where the material allows it. The same material gives the same text. Pure. */
export function plainNarrative(material: DiaryMaterial): string {
  const say = chooser(material.day);
  const promoted = new Set(material.promotions.map(key));
  const told = pickDifferent(
    material.snippets.filter((text) => !promoted.has(key(text))),
    MAX_QUOTED,
  );
  const paragraphs = [
    told.length > 0 ? remembered(told, material, say) : "",
    subjects(material, say),
    kept(material, { say, told }),
    close(material, say),
  ];
  return trimmed(paragraphs.filter((text) => text !== ""));
}

type Say = (options: readonly string[]) => string;

/** Chooses wordings by the day, so that neighbouring nights do not sound alike, and a night always the same. */
function chooser(day: string): Say {
  const seed = createHash("sha1").update(day).digest();
  let used = 0;
  return (options) => options[(seed[used++ % seed.length] ?? 0) % options.length] as string;
}

function remembered(told: readonly string[], { snippets }: DiaryMaterial, say: Say): string {
  const count = snippets.length;
  const opening =
    count === 1
      ? say([
          "Only one thing was new tonight.",
          "It was a quiet day; one new thing came to me.",
          "One new line was waiting for me tonight.",
        ])
      : say([
          `Tonight I went back over ${amount(count)} new things that the days had left with me.`,
          `I let ${amount(count)} fresh traces pass by once more before they could fade.`,
          `${capital(amount(count))} new things were waiting when everything had gone quiet.`,
        ]);
  const { heading, texts } = withoutHeading(told);
  const [first = "", ...others] = texts.map(quoted);
  const start = say([
    `The first I came upon was ${first}.`,
    `I stopped at ${first} before anything else.`,
    `What I saw first was ${first}.`,
  ]);
  if (count === 1) return `${opening} ${say([`It was ${first}.`, `It said ${first}.`])}`;
  const where =
    heading === ""
      ? ""
      : say([
          ` Most of it was about “${heading}”.`,
          ` All of what I looked at stood under “${heading}”.`,
          ` “${heading}” was written above it.`,
        ]);
  const middle = others.slice(0, -1);
  const last = others.at(-1);
  const join = say(["Close to it lay", "Then there was", "Beside it stood"]);
  const next = middle.length > 0 ? ` ${join} ${listed(middle)}.` : "";
  const end = last === undefined ? "" : ` ${say(["At the edge of it all was", "Last of all came", "A little apart lay"])} ${last}.`;
  const left = count - told.length;
  const rest = left > 0 ? ` ${capital(amount(left))} more went by without my stopping.` : "";
  return `${opening}${where} ${start}${next}${end}${rest}`;
}

/** A heading that all of them have is told once. */
function withoutHeading(told: readonly string[]): { heading: string; texts: readonly string[] } {
  const heading = told.length > 1 ? (/^([^:“”"]{1,60}): /.exec(told[0] ?? "")?.[1] ?? "") : "";
  const isShared = heading !== "" && !/^(?:User|Assistant)$/.test(heading) && told.every((text) => text.startsWith(`${heading}: `));
  return isShared ? { heading, texts: told.map((text) => text.slice(heading.length + 2)) } : { heading: "", texts: told };
}

function subjects({ themes, truths }: DiaryMaterial, say: Say): string {
  const named = themes.slice(0, MAX_THEMES).map((tag) => `“${tag}”`);
  const theme =
    named.length === 0
      ? ""
      : named.length === 1
        ? say([`One word kept coming back: ${named[0]}.`, `Whatever I turned to, it led back to ${named[0]}.`])
        : say([`Some words kept coming back: ${listed(named)}.`, `The same threads ran through it: ${listed(named)}.`]);
  const truth = truths[0];
  if (truth === undefined) return theme;
  const sure = say(["What I trust most at the moment is", "Of everything, I am surest of", "What has held up best so far is"]);
  return `${theme}${theme === "" ? "" : " "}${sure} ${quoted(truth)}.`;
}

function kept({ promotions }: DiaryMaterial, { say, told }: { say: Say; told: readonly string[] }): string {
  if (promotions.length === 0) {
    const what = told.length === 1 ? "it" : "them";
    return say([
      `I have moved nothing into long-term memory: I leave ${what} where I found ${what} until somebody asks again.`,
      `Nothing was asked for often enough to keep for good. All of it stays in the notes, and I will come past it again.`,
      `None of it is settled yet, so nothing went into long-term memory tonight.`,
      `What of this will matter in a month I cannot tell yet; long-term memory stays as it was.`,
    ]);
  }
  const texts = promotions.slice(0, MAX_PROMOTIONS).map(quoted);
  const more = promotions.length - texts.length;
  const all = more > 0 ? `${texts.join("; ")}; and ${amount(more)} more` : texts.join("; ");
  return promotions.length === 1
    ? say([
        `One thing was asked for again and again, so it is in long-term memory now: ${all}.`,
        `I am keeping one thing for good: ${all}.`,
      ])
    : say([
        `${capital(amount(promotions.length))} things had been asked for again and again, so they are in long-term memory now: ${all}.`,
        `I am keeping ${amount(promotions.length)} things for good: ${all}.`,
      ]);
}

function close({ promotions, snippets }: DiaryMaterial, say: Say): string {
  if (snippets.length + promotions.length < 2) return "";
  return say([
    "The notes themselves are as they were; I have only walked through them.",
    "In the morning all of it will still be there, word for word.",
    "Then it was quiet again, and I waited for the day.",
    "I have changed nothing in what was written down. I only know a little better where it lies.",
  ]);
}

/** Whole paragraphs until enough is told; what was kept is always told. */
function trimmed(paragraphs: readonly string[]): string {
  const told: string[] = [];
  let words = 0;
  for (const paragraph of paragraphs) {
    const more = paragraph.split(/\s+/).length;
    if (told.length > 1 && words + more > ENOUGH_WORDS + 30) continue;
    told.push(paragraph);
    words += more;
  }
  return told.join("\n\n");
}

/** The first texts that share few words with those before them. */
function pickDifferent(texts: readonly string[], count: number): string[] {
  const picked: string[] = [];
  for (const text of texts) {
    if (picked.length >= count) break;
    if (!picked.some((other) => key(other) === key(text))) picked.push(text);
  }
  return picked;
}

function key(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A statement in quotation marks, cut at a word, without a full stop of its own. Who spoke is left out. */
export function quoted(text: string): string {
  const words = text
    .replace(/^(?:User|Assistant): /, "")
    .replace(/[“”"]/g, "'")
    .replace(/\s+/g, " ")
    .trim();
  if (words.length <= MAX_QUOTE_CHARS) return `“${words.replace(/[.;,:…\s]{1,20}$/, "")}”`;
  const cut = words.slice(0, MAX_QUOTE_CHARS).replace(/[\ud800-\udbff]$/, "");
  const blank = cut.lastIndexOf(" ");
  return `“${(blank > 60 ? cut.slice(0, blank) : cut).replace(/[.;,:\s]{1,20}$/, "")} …”`;
}

function listed(texts: readonly string[]): string {
  return texts.length < 2 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

function amount(count: number): string {
  return numbers[count] ?? String(count);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
