import { join } from "node:path";
import { writeCorpus } from "./corpus.mjs";
import { makeHome, root, spawnGateway } from "./gateway.mjs";
import { runToEnd } from "./process.mjs";

let made;

/** One corpus, one gateway that has indexed it and one bare index of the same files, for all suites of a run. */
export function indexedHome(files) {
  made ??= make(files);
  return made;
}

export async function disposeIndexedHome() {
  if (!made) return;
  const { gateway, connection, home } = await made;
  await connection.close();
  await gateway.stop();
  home.remove();
}

async function make(files) {
  const home = makeHome();
  const corpus = writeCorpus(home.workspace, { files });
  const gateway = await spawnGateway(home);
  await gateway.ready();
  const connection = await gateway.connect();
  await untilIndexed(connection, files);
  const bare = () => bareIndex(home);
  return { home, corpus, gateway, connection, bare, bareDb: join(home.path, "bare.sqlite") };
}

/** Waits for the index to know every file; the workspace has a few of the product's own besides. */
export async function untilIndexed(connection, files, pauseMs = 50) {
  const deadline = performance.now() + 180_000;
  for (;;) {
    const status = await connection.request("memory.status");
    if (!status.syncing && !status.dirty && status.files >= files) return status;
    if (performance.now() > deadline) throw new Error(`the index did not settle: ${JSON.stringify({ ...status, fileList: undefined })}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function bareIndex(home) {
  const script = join(root, "test/bench/baselines/index.mjs");
  const { output } = await runToEnd([script, home.workspace, join(home.path, "bare.sqlite")]);
  return JSON.parse(output);
}
