import { makeHome, spawnBaselineServer, spawnGateway, svc } from "../lib/gateway.mjs";
import { cpuMs, memoryMb, runToEnd } from "../lib/process.mjs";
import { alternate } from "../lib/stats.mjs";

/** Figures of the first seconds of a process, and of its rest. */
export async function run({ quick, row, note }) {
  const rounds = quick ? 3 : 7;
  const home = makeHome();
  try {
    // The first start of a state directory makes databases and caches; people start a gateway many times.
    const first = await once(
      () => spawnGateway(home),
      (server) => server.msToHello(),
    );
    note(`first start with an empty state directory → hello-ok: ${first.toFixed(0)} ms`);

    const live = (spawn) => () => once(spawn, (server) => server.msToHealthz());
    const hello = (spawn) => () => once(spawn, (server) => server.msToHello());
    const ours = () => spawnGateway(home);
    row({
      id: "P1",
      metric: "spawn → /healthz",
      unit: "ms",
      target: 4,
      ...(await alternate(rounds, live(ours), live(spawnBaselineServer))),
    });
    row({
      id: "P1",
      metric: "spawn → hello-ok",
      unit: "ms",
      target: 6,
      ...(await alternate(rounds, hello(ours), hello(spawnBaselineServer))),
    });
    row({
      id: "",
      metric: "CPU until ready",
      unit: "ms",
      ...(await alternate(quick ? 1 : 3, startCpu(ours), startCpu(spawnBaselineServer))),
    });
    await idle({ home, row, quick });
    await commands({ home, row, rounds });
  } finally {
    home.remove();
  }
}

async function once(spawn, measure) {
  const server = await spawn();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

function startCpu(spawn) {
  return () =>
    once(spawn, async (server) => {
      await server.ready();
      return cpuMs(server.pid);
    });
}

/** Memory of a gateway that has answered once and then rested. */
async function idle({ home, row, quick }) {
  const rested = async (spawn) =>
    once(spawn, async (server) => {
      await server.msToHello();
      await server.ready();
      await new Promise((resolve) => setTimeout(resolve, quick ? 1_500 : 5_000));
      return memoryMb(server.pid);
    });
  const ours = await rested(() => spawnGateway(home));
  const baseline = await rested(spawnBaselineServer);
  row({ id: "P2", metric: "PSS idle", unit: "MB", ours: ours.pss, baseline: baseline.pss, target: 90, targetOf: "ours", n: 1 });
  row({ id: "", metric: "RSS idle", unit: "MB", ours: ours.rss, baseline: baseline.rss, n: 1 });
}

async function commands({ home, row, rounds }) {
  const node = async () => (await runToEnd(["-e", "0"])).ms;
  const command = (args, expected) => async () => {
    const { ms, output } = await runToEnd([svc, ...args], { env: home.env });
    if (!output.includes(expected)) throw new Error(`svc ${args.join(" ")} did not print ${expected}:\n${output}`);
    return ms;
  };
  const n = rounds * 2;
  row({ id: "P3", metric: "svc --version", unit: "ms", target: 1.6, ...(await alternate(n, command(["--version"], "."), node)) });
  row({ id: "P3", metric: "svc --help", unit: "ms", target: 1.6, ...(await alternate(n, command(["--help"], "Usage"), node)) });
  await once(
    () => spawnGateway(home),
    async (server) => {
      await server.ready();
      const health = command(["health", "--json", "--port", String(server.port)], '"ok"');
      row({ id: "P3", metric: "svc health", unit: "ms", target: 2.5, ...(await alternate(n, health, node)) });
    },
  );
}
