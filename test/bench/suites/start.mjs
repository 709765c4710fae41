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

/**
 * Memory of a gateway that has answered once and then rested. The runtime gives back what a start took some ten seconds after its last
 * collection, so that idle is what stands half a minute later; the first seconds are shown beside it.
 */
async function idle({ home, row, quick }) {
  const rest = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const rested = (spawn) =>
    once(spawn, async (server) => {
      await server.msToHello();
      await server.ready();
      await rest(quick ? 1.5 : 5);
      const soon = memoryMb(server.pid);
      await rest(quick ? 3.5 : 25);
      return { soon, late: memoryMb(server.pid) };
    });
  // One after the other: beside a second process of the same binary each counts less of it.
  const ours = await rested(() => spawnGateway(home));
  const baseline = await rested(spawnBaselineServer);
  const memory = (name, kind, when, target) =>
    row({ ...target, metric: name, unit: "MB", ours: ours[when][kind], baseline: baseline[when][kind], n: 1 });
  memory("PSS, first seconds", "pss", "soon", { id: "" });
  memory("PSS idle", "pss", "late", { id: "P2", target: 90, targetOf: "ours" });
  memory("RSS idle", "rss", "late", { id: "" });
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
