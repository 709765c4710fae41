import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createFakeOpenAiEmbeddings } from "../fakes/embedding-openai.ts";
import { okText } from "../fakes/openai-scripts.ts";
import { startFakeOpenAi } from "../fakes/openai-server.ts";
import { startConnectProxy } from "../servers/connect-proxy.ts";
import { needs } from "../servers/needs.ts";
import { startTlsFront } from "../servers/tls-front.ts";
import { command } from "./_command.ts";
import { createHome, type Home, startGateway } from "./_process.ts";

const { test } = needs("openssl");

const HOST = "embeddings.example";
const MODELS = "models.example";
const opened: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A vendor under a name of its own, by https; its plain server closes with the test. */
async function behindTls(home: Home, host: string, fake: { url: string; close(): Promise<void> }) {
  opened.push(() => fake.close());
  const front = await startTlsFront(home.env.HOME as string, host, fake.url);
  opened.push(() => front.close());
  return front;
}

test("a gateway behind a proxy embeds and answers through it, says so in svc doctor, and shows its password nowhere", async () => {
  const home = await createHome();
  opened.push(() => home.remove());
  const [fake, chat] = await Promise.all([createFakeOpenAiEmbeddings(), startFakeOpenAi()]);
  const fronts = [await behindTls(home, HOST, fake), await behindTls(home, MODELS, chat)];
  const NODE_EXTRA_CA_CERTS = join(home.env.HOME as string, "both.pem");
  await writeFile(NODE_EXTRA_CA_CERTS, (await Promise.all(fronts.map(({ ca }) => readFile(ca, "utf8")))).join(""));
  const proxy = await startConnectProxy({ [`${HOST}:443`]: fronts[0]?.port ?? 0, [`${MODELS}:443`]: fronts[1]?.port ?? 0 });
  opened.push(() => proxy.close());
  const workspace = join(home.stateDir, "workspace");
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "MEMORY.md"), "# House\n\nThe boiler needs 1.4 bar.\n");
  const memorySearch = { provider: "openai", remote: { baseUrl: `https://${HOST}/v1`, apiKey: fake.apiKey } };
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "a-token-of-this-test-only" } },
    models: { providers: { lab: { baseUrl: `https://${MODELS}/v1`, apiKey: chat.apiKey, models: [{ id: "ok" }] } } },
    agents: { defaults: { workspace, memorySearch, skipBootstrap: true } },
  };
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config), { mode: 0o600 });
  const HTTPS_PROXY = proxy.url.replace("http://", "http://me:pass-word@");
  const gateway = await startGateway(home, [], { HTTPS_PROXY, NODE_EXTRA_CA_CERTS });
  opened.push(() => gateway.kill("SIGTERM"));

  await eventually(async () => {
    const { stdout } = await command(home, ["memory", "search", "how much pressure does the boiler need", "--json"]);
    return JSON.parse(stdout).searchMode === "hybrid";
  }, 60_000);

  expect(fake.requests.length).toBeGreaterThan(0);
  const answer = await command(home, ["agent", "--message", "Where is the router?"]);
  expect(answer.stdout).toContain(okText);
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(new Set([`${HOST}:443`, `${MODELS}:443`]));
  const doctor = await command(home, ["doctor", "--severity-min", "info"]);
  expect(doctor.stdout).toContain(
    `HTTPS_PROXY: requests of plugins to https servers that NO_PROXY does not list go through the proxy ${proxy.url}`,
  );

  proxy.mode = 407;
  await gateway.kill("SIGTERM");
  const again = await startGateway(home, [], { HTTPS_PROXY, NODE_EXTRA_CA_CERTS });
  opened.push(() => again.kill("SIGTERM"));
  const degraded = await eventually(async () => {
    const { stdout } = await command(home, ["memory", "search", "a question that was not asked before", "--json"]);
    return JSON.parse(stdout).searchMode === "fts-only" && stdout;
  }, 60_000);
  for (const text of [gateway.out.stdout, gateway.out.stderr, again.out.stdout, again.out.stderr, doctor.stdout, degraded])
    expect(text).not.toContain("pass-word");
});
