import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/gateway.mjs";
import { indexedHome } from "../lib/indexed-home.mjs";
import { memoryMb, runToEnd } from "../lib/process.mjs";
import { percentile } from "../lib/stats.mjs";

/** Keyword search by the protocol, against bare FTS5 inside one process. */
export async function run({ files, quick, row, note }) {
  const { home, corpus, gateway, connection, bare, bareDb } = await indexedHome(files);
  if (!existsSync(bareDb)) await bare();
  const questions = quick ? corpus.questions.slice(0, 40) : corpus.questions;
  const questionsFile = join(home.path, "questions.json");
  writeFileSync(questionsFile, JSON.stringify(questions));

  const first = performance.now();
  await ask(connection, questions[0]);
  note(`first search of a connection: ${(performance.now() - first).toFixed(1)} ms`);

  const times = { ours: [], bare: [] };
  let missed = 0;
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    for (const question of questions) {
      const started = performance.now();
      const found = await ask(connection, question);
      times.ours.push(performance.now() - started);
      if (!found) missed += 1;
    }
    const { output } = await runToEnd([join(root, "test/bench/baselines/search.mjs"), bareDb, questionsFile]);
    times.bare.push(...JSON.parse(output));
  }
  for (const p of [0.5, 0.95]) {
    row({
      id: p === 0.95 ? "P14" : "",
      metric: `keyword search, ${files} files, p${p * 100}`,
      unit: "ms",
      ours: percentile(times.ours, p),
      baseline: percentile(times.bare, p),
      ...(p === 0.95 ? { target: 40, targetOf: "ours" } : {}),
      n: times.ours.length,
    });
  }
  row({ id: "P2", metric: "PSS after searching", unit: "MB", ours: memoryMb(gateway.pid).pss, target: 200, targetOf: "ours", n: 1 });
  const asked = times.ours.length;
  note(`known notes found by search: ${asked - missed} of ${asked} questions answered as expected`);
  if (missed > asked * 0.05) throw new Error(`${missed} of ${asked} questions did not find their note`);
}

/** True when the note that holds the answer is among the hits, or anything is for questions without a single answer. */
async function ask(connection, question) {
  const { results } = await connection.request("memory.search", { query: question.query });
  return question.expect ? results.some((hit) => hit.path === question.expect) : results.length > 0;
}
