import { makeHome, spawnBaselineServer, spawnGateway } from "../lib/gateway.mjs";
import { get, loadHttp } from "../lib/http.mjs";
import { cpuMs } from "../lib/process.mjs";
import { alternate } from "../lib/stats.mjs";

/** CPU of the cheap HTTP answers, against a raw handler with bytes of the same shape. */
export async function run({ quick, row }) {
  const home = makeHome();
  const ours = await spawnGateway(home);
  const baseline = await spawnBaselineServer();
  try {
    await Promise.all([ours.ready(), baseline.ready()]);
    const total = quick ? 3_000 : 12_000;
    for (const path of ["/healthz", "/v1/models"]) {
      const measure = (server) => async () => {
        const { status, body } = await get(server.url + path, { headers: server.headers });
        if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
        const before = cpuMs(server.pid);
        await loadHttp(server.url + path, { total, inFlight: 32, headers: server.headers, expected: body });
        return ((cpuMs(server.pid) - before) * 1_000) / total;
      };
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
