/**
 * The least that could run an agent: model, tool, model, with each call and each result on the disk before the loop goes on.
 * `node tool-loop.mjs <database> <calls> <rounds>` prints the milliseconds of one call.
 */
import { Worker } from "node:worker_threads";
import { bareCalls } from "../agents-plugin/scripted-model.mjs";
import { median } from "../lib/stats.mjs";

const [path, calls, rounds] = process.argv.slice(2);
const worker = new Worker(new URL("commits.mjs", import.meta.url), { workerData: path });
const waiting = new Map();
worker.on("message", (ids) => {
  for (const id of ids) {
    waiting.get(id)();
    waiting.delete(id);
  }
});
let nextId = 0;
const store = (message) => {
  const id = nextId++;
  const done = new Promise((resolve) => waiting.set(id, resolve));
  worker.postMessage({ id, body: JSON.stringify(message) });
  return done;
};

await bareCalls(5, store);
const seen = [];
for (let i = 0; i < Number(rounds); i += 1) {
  const begun = performance.now();
  await bareCalls(Number(calls), store);
  seen.push((performance.now() - begun) / Number(calls));
}
await worker.terminate();
console.log(JSON.stringify({ ms: median(seen) }));
