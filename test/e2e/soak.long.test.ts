import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { connectUser, type IrcUser } from "../servers/irc-user.ts";
import { commandPath } from "../servers/needs.ts";
import { type Ngircd, startNgircd } from "../servers/ngircd.ts";
import { configured, freshHome, gatewayIn, stopAll, stopLater, token } from "./_cli.ts";
import { echoModel } from "./_echo-model.ts";
import { hookToken } from "./_hooks.ts";
import type { Home, Running } from "./_process.ts";
import { type Figure, grownTables, growth, type InProcess, type Sample, soakProbe, table, takeSample } from "./_soak-figures.ts";
import { type Load, startLoad } from "./_soak-load.ts";
import { backendClient } from "./_storm.ts";

afterEach(stopAll);

const MINUTE = 60_000;
/** Minutes of real time; twenty before an issue is closed. */
const realMinutes = Number(process.env.SVC_SOAK_MINUTES ?? 3);

/** Of the fast motion: with 60 an hour takes a minute. What the load does in an hour stays the same, so a higher one needs a machine with nothing beside it. */
const FACTOR = Number(process.env.SVC_SOAK_FACTOR ?? 60);
/**
 * Rows of runs, deliveries and keys are kept for a day, and the newest 10,000 runs for longer: until then the database grows, and with it what its connections keep
 * in memory.
 */
const WARM_UP_HOURS = Number(process.env.SVC_SOAK_WARM_UP_HOURS ?? 30);

const configOf = (irc: Ngircd | undefined, heartbeat: string) => ({
  gateway: { mode: "local", auth: { token } },
  agents: {
    defaults: { model: "echo/echo", skipBootstrap: true, memorySearch: { provider: "none" }, heartbeat: { every: heartbeat } },
  },
  session: { maintenance: { pruneAfter: "1h", resetArchiveRetention: "1h" } },
  hooks: { enabled: true, token: hookToken },
  diagnostics: { prometheus: { enabled: true } },
  plugins: { load: { paths: ["./echo.ts", "./probe.ts"] } },
  ...(irc && { channels: { irc: ircConfig(irc.port) } }),
});

const ircConfig = (port: number) => ({
  host: "127.0.0.1",
  port,
  tls: { enabled: false },
  nick: "agent",
  rooms: ["#kitchen"],
  groups: { "#kitchen": {} },
  burstLines: 100,
  lineIntervalMs: 0,
});

interface Soak {
  home: Home;
  gateway: Running;
  load: Load;
}

interface Pace {
  /** Periods of the load are divided by it. */
  speed: number;
  heartbeat: string;
  /** Minutes of the gateway's clock in one of the machine's. */
  factor?: number;
}

async function startSoak({ speed, heartbeat, factor = 1 }: Pace): Promise<Soak> {
  const irc = commandPath("ngircd") ? await startNgircd() : undefined;
  if (irc) stopLater(() => irc.stop());
  const config = configOf(irc, heartbeat);
  const home = await configured(await freshHome(), config);
  const fast = factor > 1 ? { ...home, program: fileURLToPath(new URL("_soak-gateway.mjs", import.meta.url)), readyMs: 90_000 } : home;
  await mkdir(join(home.stateDir, "workspace/memory"), { recursive: true });
  await writeFile(join(home.stateDir, "workspace/HEARTBEAT.md"), "- Is the oven off?\n");
  for (const [name, code] of Object.entries({ echo: echoModel, probe: soakProbe }))
    await writeFile(join(home.stateDir, `${name}.ts`), code);
  const gateway = await gatewayIn(fast, [], { SVC_SOAK_FACTOR: String(factor) });
  const person = irc && (await visitor(irc));
  return { home, gateway, load: startLoad({ gateway, home, config, person, speed }) };
}

/** In the room with the agent. */
async function visitor({ port }: Ngircd): Promise<IrcUser> {
  const person = await connectUser({ port, nick: "ada" });
  stopLater(() => person.close());
  await person.join("#kitchen");
  await eventually(() => {
    person.send("NAMES #kitchen");
    return person.lines.some((line) => / 353 .*\bagent\b/.test(line));
  }, 30_000);
  return person;
}

/** Samples until the time is over; the load goes on meanwhile. */
async function watch({ gateway, home, load }: Soak, { forMs, everyMs, speed }: { forMs: number; everyMs: number; speed: number }) {
  const client = backendClient(gateway);
  await client.connect();
  const samples: Sample[] = [];
  const begun = performance.now();
  while (performance.now() - begun < forMs && gateway.child.exitCode === null && load.failures.length < 20) {
    const inside = await (client.request("probe.look" as never, {} as never) as Promise<InProcess>);
    const minute = ((performance.now() - begun) * speed) / MINUTE;
    samples.push(takeSample({ pid: gateway.child.pid ?? 0, stateDir: home.stateDir, inside, minute }));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await client.close();
  await load.stop();
  return samples;
}

function report(name: string, samples: readonly Sample[], load: Load): void {
  process.stdout.write(`\n${name}\n${table(samples)}\n${JSON.stringify(load.done)}\nfailures: ${load.failures.length}\n`);
}

/** How much each figure may grow in the time that is judged. */
const limits = { heapMb: 3, pssMb: 8, ownMb: 8, descriptors: 3, timers: 8, handles: 3, walMb: 4 } as const;

function expectFlat(samples: readonly Sample[], limits: Partial<Record<Figure, number>>): void {
  const grown = Object.entries(limits).map(([name, limit]) => ({
    name,
    growth: Math.round(growth(samples, (sample) => sample[name as Figure]) * 100) / 100,
    limit,
  }));
  process.stdout.write(`growth: ${JSON.stringify(grown)}\ntables grown, KB: ${JSON.stringify(grownTables(samples))}\n`);
  expect(grown.filter(({ growth, limit }) => growth > limit)).toEqual([]);
}

const peak = (samples: readonly Sample[], name: Figure) => Math.max(...samples.map((sample) => sample[name]));

test(
  `${realMinutes} minutes of mixed load leave memory, descriptors, timers and the write-ahead log flat`,
  async () => {
    const soak = await startSoak({ speed: 1, heartbeat: "1m" });
    const samples = await watch(soak, { forMs: realMinutes * MINUTE, everyMs: Math.max(2_000, realMinutes * 500), speed: 1 });

    report("real time", samples, soak.load);
    expect(soak.load.failures).toEqual([]);
    expect(Object.keys(soak.load.done).length).toBeGreaterThanOrEqual(8);
    // The first half fills caches; rows of a day are still coming.
    const half = Math.floor(samples.length / 2);
    const { pssMb: _, ownMb: __, ...others } = limits;
    expectFlat(samples.slice(half), others);
    // Memory falls by some 25 MB at once and comes back within minutes, so a slope of ten minutes tells where it began: peaks are compared instead.
    const peaks = (["pssMb", "ownMb"] as const).map((name) => peak(samples.slice(half), name) - peak(samples.slice(0, half), name));
    process.stdout.write(`peaks of pssMb and ownMb, second half over first: ${peaks.map((mb) => mb.toFixed(1)).join(", ")}\n`);
    expect(Math.max(...peaks)).toBeLessThan(12);
  },
  realMinutes * MINUTE + 120_000,
);

test("eight hours in fast motion, after a day, leave memory, descriptors, timers, sessions, the database and its log flat", async () => {
  const hours = 8;
  const soak = await startSoak({ speed: FACTOR / 10, heartbeat: "5m", factor: FACTOR });
  const forMs = ((WARM_UP_HOURS + hours) * 60 * MINUTE) / FACTOR;
  const samples = await watch(soak, { forMs, everyMs: 5_000, speed: FACTOR });

  report("fast motion", samples, soak.load);
  const judged = samples.filter(({ minute }) => minute >= WARM_UP_HOURS * 60);
  process.stdout.write(`\njudged\n${table(judged)}\n`);
  expectFlat(judged, { ...limits, dayDbMb: 1, ledger: 200 });
  expect(soak.load.failures).toEqual([]);
}, 3_600_000);
