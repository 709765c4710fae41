import { makeHome, spawnBaselineRelay, spawnBaselineServer, spawnGateway } from "../lib/gateway.mjs";
import { get, loadHttp } from "../lib/http.mjs";
import { cpuMs } from "../lib/process.mjs";
import { alternate } from "../lib/stats.mjs";
import { spawnVendor } from "../lib/vendor.mjs";

/** CPU of HTTP answers: cheap ones against a raw handler with bytes of the same shape, embeddings against a bare relay to the same vendor. */
export async function run(options) {
  await cheapAnswers(options);
  await embeddings(options);
}

async function cheapAnswers({ quick, row }) {
  const home = makeHome();
  const ours = await spawnGateway(home);
  const baseline = await spawnBaselineServer();
  try {
    await Promise.all([ours.ready(), baseline.ready()]);
    const total = quick ? 3_000 : 12_000;
    for (const path of ["/healthz", "/v1/models"]) {
      const measure = (server) => () => cpuOfEach(server, path, { total });
      await measure(ours)();
      await measure(baseline)();
      const result = await alternate(quick ? 2 : 5, measure(ours), measure(baseline));
      row({ id: "P8", metric: `${path}, 32 in flight, CPU`, unit: "µs", target: 1.8, ...result });
    }
  } finally {
    await Promise.all([ours.stop(), baseline.stop()]);
    home.remove();
  }
}

/** One text, as the official client asks for it and as plain numbers. */
async function embeddings({ quick, row }) {
  const vendor = await spawnVendor();
  const remote = { baseUrl: vendor.baseUrl, apiKey: "bench-only" };
  const home = makeHome({ agents: { defaults: { memorySearch: { provider: "openai", remote } } } });
  const ours = await spawnGateway(home);
  const relay = await spawnBaselineRelay(vendor.baseUrl);
  const total = quick ? 2_000 : 5_000;
  try {
    await Promise.all([ours.ready(), relay.ready()]);
    for (const format of ["base64", "float"]) {
      const asked = { input: "Where is the key of the greenhouse? ".repeat(6), encoding_format: format };
      const measure = (server, model) => () => cpuOfEach(server, "/v1/embeddings", { total, json: JSON.stringify({ model, ...asked }) });
      const [measureOurs, measureRelay] = [measure(ours, "svc"), measure(relay, "text-embedding-3-small")];
      // The optimiser needs some thousands of requests with so long a way; the relay's is short.
      for (let i = 0; i < 3; i += 1) await measureOurs();
      await measureRelay();
      const result = await alternate(quick ? 3 : 5, measureOurs, measureRelay);
      row({ id: "P9", metric: `/v1/embeddings, ${format}, 32 in flight, CPU`, unit: "µs", target: 2.5, ...result });
    }
  } finally {
    await Promise.all([ours.stop(), relay.stop(), vendor.stop()]);
    home.remove();
  }
}

/** µs of CPU that a server spends on one request, 32 of which are under way at a time. */
async function cpuOfEach(server, path, { total, json }) {
  const { headers } = server;
  const { status, body } = await get(server.url + path, { headers, json });
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
  const before = cpuMs(server.pid);
  await loadHttp(server.url + path, { total, inFlight: 32, headers, json, expected: body });
  return ((cpuMs(server.pid) - before) * 1_000) / total;
}
