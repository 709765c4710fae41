import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedHome } from "../lib/embedded-home.mjs";
import { indexedHome, untilIndexed } from "../lib/indexed-home.mjs";
import { percentile } from "../lib/stats.mjs";

/** How fast a tree of notes becomes searchable, by words alone and with vectors, and what else goes on meanwhile. */
export async function run({ files, embeddedFiles, row, note, quick }) {
  await measure(await indexedHome(files), { files, what: "", row, note, quick });
  await measure(await embeddedHome(embeddedFiles), { files: embeddedFiles, what: ", embedded", row, note, quick });
}

async function measure({ home, gateway, connection, bare }, { files, what, row, note, quick }) {
  const pings = [];
  const other = await gateway.connect();
  const rates = { ours: [], bare: [] };
  let chunks = 0;
  for (let round = 0; round < (quick ? 1 : 2); round += 1) {
    const done = { value: false };
    const pinging = ping(other, pings, done);
    const started = performance.now();
    await connection.request("memory.index", { force: true });
    const status = await untilIndexed(connection, files);
    rates.ours.push((status.chunks / (performance.now() - started)) * 1_000);
    done.value = true;
    await pinging;
    chunks = status.chunks;
    const least = await bare();
    rates.bare.push((least.chunks / least.ms) * 1_000);
  }
  await other.close();
  row({
    id: "P12",
    metric: `full index of ${files} files${what}`,
    unit: "chunks/s",
    better: "higher",
    ours: Math.max(...rates.ours),
    baseline: Math.max(...rates.bare),
    target: 0.4,
    n: rates.ours.length,
  });
  row({
    id: "P12",
    metric: `index size per chunk${what}`,
    unit: "KB",
    ours: indexBytes(home.state) / chunks / 1_000,
    target: 18,
    targetOf: "ours",
    n: chunks,
  });
  row({
    id: "P15",
    metric: `health while indexing${what}, p99`,
    unit: "ms",
    ours: percentile(pings, 0.99),
    target: 10,
    targetOf: "ours",
    n: pings.length,
  });
  row({
    id: "P15",
    metric: `health while indexing${what}, max`,
    unit: "ms",
    ours: Math.max(...pings),
    target: 50,
    targetOf: "ours",
    n: pings.length,
  });
  await edit({ home, connection, row, what });
  await changed({ home, connection, row, what, rounds: quick ? 3 : 6 });
  await update({ home, connection, row, what });
  note(`${chunks} chunks from ${files} files`);
}

/** One request after the other, so that each sees what the main thread was doing just then. */
async function ping(connection, times, done) {
  while (!done.value) {
    const started = performance.now();
    const health = await connection.request("health");
    if (health.ok !== true) throw new Error("health was not ok while indexing");
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** From the end of a write to the first search that finds it. */
async function edit({ home, connection, row, what }) {
  const word = `freshly${Date.now()}`;
  const started = performance.now();
  writeFileSync(join(home.workspace, "memory/edited.md"), `# Edited\n\nThe ${word} bell hangs by the door.\n`);
  for (;;) {
    const { results } = await connection.request("memory.search", { query: `${word} bell` });
    if (results.some((hit) => hit.path === "memory/edited.md")) break;
    if (performance.now() - started > 30_000) throw new Error("an edited note was not found within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  row({ id: "", metric: `edit → found${what}`, unit: "ms", ours: performance.now() - started, target: 3_000, targetOf: "ours", n: 1 });
}

/** One changed file that the watcher has seen: how long the product says that it took from the end of the quiet until the change was committed. */
async function changed({ home, connection, row, what, rounds }) {
  const times = [];
  for (let i = 0; i < rounds; i += 1) {
    const before = (await untilIndexed(connection, 1)).lastSyncAt;
    const word = `watched${Date.now()}`;
    writeFileSync(join(home.workspace, "memory/edited.md"), `# Edited\n\nThe ${word} bell hangs by the door.\n`);
    // Not asked for meanwhile: a status is work of the same thread.
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    const status = await untilSynced(connection, before);
    const { results } = await connection.request("memory.search", { query: `${word} bell` });
    if (!results.some((hit) => hit.snippet.includes(word))) throw new Error("a change that is committed was not found");
    times.push(status.lastSyncMs);
  }
  row({
    id: "P13",
    metric: `one changed file${what}, p50`,
    unit: "ms",
    ours: percentile(times, 0.5),
    target: 25,
    targetOf: "ours",
    n: times.length,
  });
}

async function untilSynced(connection, before) {
  for (const deadline = performance.now() + 30_000; ; ) {
    const status = await untilIndexed(connection, 1);
    if (status.lastSyncAt !== before) return status;
    if (performance.now() > deadline) throw new Error("a changed note was not indexed within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** One changed file, by a request to look at all of them: from the request until it is answered. */
async function update({ home, connection, row, what }) {
  const times = [];
  for (let i = 0; i < 10; i += 1) {
    writeFileSync(join(home.workspace, "memory/edited.md"), `# Edited\n\nThe bell number ${Date.now()} ${i} hangs by the door.\n`);
    const started = performance.now();
    await connection.request("memory.index", {});
    await untilIndexed(connection, 1, 5);
    times.push(performance.now() - started);
  }
  row({ id: "", metric: `look at all files, one changed${what}, p50`, unit: "ms", ours: percentile(times, 0.5), n: times.length });
}

function indexBytes(state) {
  const folder = join(state, "memory");
  if (!existsSync(folder)) throw new Error("no index in the state folder");
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
