import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { createFakeOpenAiEmbeddings } from "../fakes/embedding-openai.ts";
import { makeCertificate } from "../servers/certificate.ts";
import { startConnectProxy } from "../servers/connect-proxy.ts";
import { createHome, type Home, startGateway, svcCommand } from "./_process.ts";

const HOST = "embeddings.example";
const opened: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** The vendor under a name of its own, by https. */
async function startVendor(home: Home) {
  const fake = await createFakeOpenAiEmbeddings();
  opened.push(() => fake.close());
  const files = await makeCertificate(home.env.HOME as string, "vendor", HOST);
  const server = createServer({ cert: await readFile(files.cert), key: await readFile(files.key) }, (socket) => {
    const origin = connect(Number(new URL(fake.url).port), "127.0.0.1");
    for (const one of [socket, origin]) one.on("error", () => undefined).on("close", () => void [socket.destroy(), origin.destroy()]);
    socket.pipe(origin).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => server.close());
  return { fake, ca: files.cert, port: (server.address() as AddressInfo).port };
}

test("a gateway behind a proxy embeds through it, says so in svc doctor, and shows its password nowhere", async () => {
  const home = await createHome();
  opened.push(() => home.remove());
  const { fake, ca, port } = await startVendor(home);
  const proxy = await startConnectProxy({ [`${HOST}:443`]: port });
  opened.push(() => proxy.close());
  const workspace = join(home.stateDir, "workspace");
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "MEMORY.md"), "# House\n\nThe boiler needs 1.4 bar.\n");
  const memorySearch = { provider: "openai", remote: { baseUrl: `https://${HOST}/v1`, apiKey: fake.apiKey } };
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "a-token-of-this-test-only" } },
    agents: { defaults: { workspace, memorySearch } },
  };
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config), { mode: 0o600 });
  const HTTPS_PROXY = proxy.url.replace("http://", "http://me:pass-word@");
  const gateway = await startGateway(home, [], { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: ca });
  opened.push(() => gateway.kill("SIGTERM"));

  await eventually(async () => {
    const { stdout } = await svcCommand(home, ["memory", "search", "how much pressure does the boiler need", "--json"]);
    return JSON.parse(stdout).searchMode === "hybrid";
  }, 60_000);

  expect(fake.requests.length).toBeGreaterThan(0);
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(new Set([`${HOST}:443`]));
  const doctor = await svcCommand(home, ["doctor", "--severity-min", "info"]);
  expect(doctor.stdout).toContain(
    `HTTPS_PROXY: embedding requests to https servers that NO_PROXY does not list go through the proxy ${proxy.url}`,
  );

  proxy.mode = 407;
  await gateway.kill("SIGTERM");
  const again = await startGateway(home, [], { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: ca });
  opened.push(() => again.kill("SIGTERM"));
  const degraded = await eventually(async () => {
    const { stdout } = await svcCommand(home, ["memory", "search", "a question that was not asked before", "--json"]);
    return JSON.parse(stdout).searchMode === "fts-only" && stdout;
  }, 60_000);
  for (const text of [gateway.out.stdout, gateway.out.stderr, again.out.stdout, again.out.stderr, doctor.stdout, degraded])
    expect(text).not.toContain("pass-word");
});
