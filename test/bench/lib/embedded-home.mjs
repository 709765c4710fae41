import { join } from "node:path";
import { writeCorpus } from "./corpus.mjs";
import { makeHome, root, spawnGateway } from "./gateway.mjs";
import { untilIndexed } from "./indexed-home.mjs";
import { runToEnd } from "./process.mjs";
import { spawnVendor } from "./vendor.mjs";

let made;

/** A gateway whose notes are embedded by a vendor in a process of its own, for all suites of a run. */
export function embeddedHome(files) {
  made ??= make(files);
  return made;
}

export async function disposeEmbeddedHome() {
  if (!made) return;
  const { gateway, connection, home, vendor } = await made;
  await connection.close();
  await gateway.stop();
  await vendor.stop();
  home.remove();
}

async function make(files) {
  const vendor = await spawnVendor();
  const remote = { baseUrl: vendor.baseUrl, apiKey: "bench-only" };
  const memorySearch = { provider: "openai", remote };
  const home = makeHome({ agents: { defaults: { memorySearch } } });
  const corpus = writeCorpus(home.workspace, { files });
  const gateway = await spawnGateway(home);
  await gateway.ready();
  const connection = await gateway.connect();
  await untilIndexed(connection, files);
  const bare = async () => {
    const script = join(root, "test/bench/baselines/index.mjs");
    const { output } = await runToEnd([script, home.workspace, join(home.path, "bare.sqlite"), vendor.baseUrl]);
    return JSON.parse(output);
  };
  return { home, corpus, gateway, connection, vendor, bare };
}
