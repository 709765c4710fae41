import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Vendor, type VendorId, vendors } from "./_embedding-vendors.ts";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

let home: Home;
let vendor: Vendor | undefined;
let gateway: Running | undefined;

beforeEach(async () => {
  home = await createHome();
});

afterEach(async () => {
  await gateway?.kill("SIGTERM");
  await vendor?.close();
  await home.remove();
});

async function start(id: VendorId): Promise<Vendor> {
  const started = await vendors[id]();
  vendor = started;
  const workspace = join(home.stateDir, "workspace");
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "MEMORY.md"), "# House\n\nThe boiler needs 1.4 bar.\n");
  const memorySearch = { provider: id, remote: started.remote };
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "a-token-of-this-test-only" } },
    agents: { defaults: { workspace, memorySearch } },
  };
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config), { mode: 0o600 });
  gateway = await startGateway(home, [], started.env);
  return started;
}

/** Answer of `svc memory search --json`. */
async function search(query: string): Promise<{ searchMode: string; degraded?: boolean; results: Array<{ path: string }> }> {
  const { code, stdout, stderr } = await svcCommand(home, ["memory", "search", query, "--json"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

test.each<VendorId>(["bedrock", "openai"])(
  "the built gateway embeds with %s, answers during an outage, and prints nothing but its log",
  async (id) => {
    const server = await start(id);
    await eventually(async () => {
      const { searchMode, results } = await search("how much pressure does the boiler need");
      expect(results.map(({ path }) => path)).toContain("MEMORY.md");
      return searchMode === "hybrid";
    }, 60_000);

    server.fail({ status: 500, message: `out of order, ${server.shown.join()}` });
    const found = await search("boiler in an outage");
    expect(found).toMatchObject({ searchMode: "fts-only", degraded: true });
    expect(found.results.map(({ path }) => path)).toContain("MEMORY.md");

    const { stdout = "", stderr = "" } = gateway?.out ?? {};
    expect(`${stdout}${stderr}`).not.toMatch(/NodeVersionSupportWarning|\(node:\d+\)/);
    for (const secret of server.secrets) expect(`${stdout}${stderr}`.includes(secret), "a secret shows").toBe(false);
  },
);
