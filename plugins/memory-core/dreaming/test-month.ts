/** A month of a household for tests: notes that are written, corrected and taken back, and questions about them. The same seed gives the same month. */

/** A statement that people come back to. */
export interface Fact {
  text: string;
  /** Questions about it. */
  queries: readonly string[];
}

/** Everything that happens on one day. */
export interface HouseDay {
  day: string;
  /** Text of the day's note. */
  note: string;
  /** Earlier notes as they are from now on. */
  rewritten: Map<string, string>;
  /** Facts that are asked for, with the question. */
  questions: Array<{ fact: Fact; query: string }>;
  /** Remarks of a person in a chat. */
  remarks: string[];
}

export const facts: readonly Fact[] = [
  { text: "The door code of the garden house is 4711", queries: ["door code", "garden house code", "code for the garden house door"] },
  { text: "Ana services the boiler every spring", queries: ["who services the boiler", "boiler", "boiler spring Ana"] },
  { text: "Nora prefers green tea in the morning", queries: ["what tea does Nora prefer", "Nora tea", "green tea morning"] },
  { text: "The spare key hangs behind the copper kettle", queries: ["spare key", "where is the spare key", "kettle key"] },
  { text: "Emil is allergic to hazelnuts", queries: ["Emil allergic", "hazelnuts", "allergic to hazelnuts"] },
  { text: "The ferry to the island leaves at nine on weekdays", queries: ["ferry island", "when does the ferry leave", "ferry weekdays"] },
];

const people = ["Clara", "Jonas", "Marta", "Felix", "Greta", "Otto", "Ines", "Paul"];
const things = ["bicycle", "curtain", "bookshelf", "violin", "lantern", "kayak", "sewing machine", "telescope", "wheelbarrow", "blender"];
const events = [
  (a: string, b: string) => `Met ${a} about the ${b}`,
  (a: string, b: string) => `${a} borrowed the ${b} until Sunday`,
  (a: string, b: string) => `Asked ${a} whether the ${b} can be repaired`,
  (a: string, b: string) => `The ${b} was delivered, ${a} signed for it`,
];

export type Random = (below: number) => number;

/** Numbers that depend on the seed alone. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export interface Month {
  days: HouseDay[];
  /** Facts whose statement was taken back, by the day from which on it is gone. */
  withdrawn: Map<string, string>;
}

/** The first so many days of a month from 1 April 2026 on. */
export function householdMonth(random: Random, count: number): Month {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const notes = new Map<string, string>();
  const withdrawn = new Map<string, string>();
  const known: Array<{ fact: Fact; day: string }> = [];
  const days = Array.from({ length: count }, (_, index): HouseDay => {
    const day = `2026-04-${String(index + 1).padStart(2, "0")}`;
    const rewritten = new Map<string, string>();
    const lines = Array.from({ length: 2 + random(4) }, () => `- ${pick(events)(pick(people), pick(things))}`);
    const fact = facts[index % 2 === 0 ? index / 2 : -1];
    if (fact) {
      lines.splice(random(lines.length + 1), 0, `- ${fact.text}`);
      known.push({ fact, day });
    }
    const note = `# ${day}\n\n## ${pick(["House", "Errands", "Notes", "Garden"])}\n\n${lines.join("\n")}\n`;
    notes.set(day, note);
    // The last fact is taken back on the third day after it was written.
    const gone = known.find((one) => one.fact === facts[3]);
    if (gone && index === 9) {
      withdrawn.set(gone.fact.text, day);
      rewritten.set(gone.day, (notes.get(gone.day) ?? "").replace(`- ${gone.fact.text}\n`, "- The spare key was moved somewhere else\n"));
    }
    if (random(4) === 0 && index > 1) {
      const earlier = `2026-04-${String(1 + random(index - 1)).padStart(2, "0")}`;
      const text = rewritten.get(earlier) ?? notes.get(earlier) ?? "";
      rewritten.set(
        earlier,
        text.replace(/\n## .*\n/, (heading) => `${heading}\n- Added later: called ${pick(people)} again\n`),
      );
    }
    for (const [name, text] of rewritten) notes.set(name, text);
    const askable = known.filter((one) => !withdrawn.has(one.fact.text));
    const questions = Array.from({ length: askable.length === 0 ? 0 : 1 + random(3) }, () => {
      const { fact: asked } = pick(askable);
      return { fact: asked, query: pick(asked.queries) };
    });
    return {
      day,
      note,
      rewritten,
      questions,
      remarks: random(2) === 0 ? [`I think ${pick(people)} should look after the ${pick(things)} this week`] : [],
    };
  });
  return { days, withdrawn };
}

/** Lines of promotions in a long-term memory: key, text and evidence. */
export function promotionsIn(memory: string): Array<{ key: string; text: string; score: number; path: string }> {
  const rows = memory.matchAll(
    /<!-- svc-memory-promotion:(\S+) -->\n- (.*) \[score=([\d.]+) recalls=\d+ avg=[\d.]+ source=(\S+):\d+-\d+\]/g,
  );
  return [...rows].map(([, key = "", text = "", score, path = ""]) => ({ key, text, score: Number(score), path }));
}
