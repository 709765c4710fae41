import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { seeded } from "./stats.mjs";

const stopWords = "the of and a to in is was for on that with as it at by from this be are".split(" ");
const syllables = "ba ke lo mi nu ra so ti ve wa dor fen gal hin jar kel mon nor pel rin sar tor ul vin".split(" ");
const vocabularySize = 6_000;

/** Words of made-up language in order of frequency: the first ones are in every file, the last ones in few. */
function vocabulary(random) {
  const words = new Set();
  while (words.size < vocabularySize) {
    const length = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join(""));
  }
  return [...words];
}

/**
 * Notes from a fixed seed: about 3 KB each, with headings, and one sentence that stands in no other note.
 * @returns the paths and what to ask about them
 */
export function writeCorpus(folder, { files, seed = 7 }) {
  const random = seeded(seed);
  const words = vocabulary(random);
  const word = () => words[Math.floor(words.length * random() ** 3)];
  const sentence = () => {
    const length = 6 + Math.floor(random() * 10);
    const text = Array.from({ length }, () => (random() < 0.35 ? stopWords[Math.floor(random() * stopWords.length)] : word())).join(" ");
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  };
  const paragraph = () => Array.from({ length: 5 }, sentence).join("\n");
  const notes = [];
  for (let i = 0; i < files; i += 1) {
    const path = `memory/area-${i % 40}/note-${String(i).padStart(5, "0")}.md`;
    const fact = { name: `${word()}${i}`, value: `zz${seed}${i}x` };
    const section = (title) => `## ${title}\n\n${paragraph()}\n\n${paragraph()}\n`;
    const text = `# ${word()} ${word()}\n\n${section(`${word()} ${word()}`)}\nThe ${fact.name} lantern stands behind shelf ${fact.value}.\n\n${section(word())}`;
    const file = join(folder, path);
    if (i < 40) mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    notes.push({ path, fact });
  }
  return { notes, questions: questionsAbout(notes, words, random) };
}

/** Four kinds of question in turn; `expect` is the note that must be among the hits. */
function questionsAbout(notes, words, random) {
  const pick = (from, to) => words[Math.floor(words.length * (from + random() * (to - from)))];
  const kinds = [
    (note) => ({ query: `${note.fact.name} ${note.fact.value}`, words: [note.fact.name, note.fact.value], expect: note.path }),
    (note) => ({
      query: `Behind which shelf does the ${note.fact.name} lantern stand?`,
      words: ["behind", "shelf", note.fact.name, "lantern", "stand"],
      expect: note.path,
    }),
    () => among([pick(0.1, 0.3), pick(0.1, 0.3), pick(0.3, 0.6)]),
    () => among([words[0], words[1], words[2]]),
  ];
  return Array.from({ length: 100 }, (_, i) => kinds[i % kinds.length](notes[Math.floor(random() * notes.length)]));
}

function among(words) {
  return { query: words.join(" "), words };
}
