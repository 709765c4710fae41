/**
 * How fast the machine is while the tests run: a fixed piece of work, done now and then, whose CPU time is compared with the one of the machine that the budgets
 * of `.ci/times.mjs` were measured on. Machines that share their cores with others have been seen at a third of their usual pace.
 */
import { createHash } from "node:crypto";

const rows = Array.from({ length: 400 }, (_, i) => ({
  id: `row-${i}`,
  text: `${i} the router stands in the hall `.repeat(6),
  at: i * 7,
  tags: ["a", "b", `${i}`],
}));

/** Milliseconds of CPU of one piece of work: parsing, expressions, hashes and short-lived objects, as tests do them; some 30 of them. */
export function sampleMs() {
  const begun = process.cpuUsage();
  const words = new Map();
  for (let round = 0; round < 12; round++) {
    const text = JSON.stringify(rows);
    createHash("sha256").update(text).digest("hex");
    for (const { id, text: line } of JSON.parse(text)) {
      for (const [word] of line.matchAll(/\p{L}+/gu)) words.set(word, `${words.get(word)?.length ?? 0}${id}`);
    }
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** Does that work every five seconds, beside whatever else the machine does. */
export function watchPace() {
  const samples = [];
  const timer = setInterval(() => samples.push(sampleMs()), 5_000);
  return {
    /** The median so far in milliseconds, without the first, which is compiled as it runs; nothing after less than 15 s. */
    end() {
      clearInterval(timer);
      const sorted = samples.slice(1).sort((a, b) => a - b);
      return sorted[Math.floor(sorted.length / 2)];
    },
  };
}
