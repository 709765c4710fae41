import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { gatewayIn, root, stopAll, stopLater } from "./_cli.ts";
import { command } from "./_command.ts";
import {
  configOf,
  type FaultHome,
  faultHome,
  loggedSince,
  logLength,
  look,
  page,
  pageWith,
  plain,
  type Run,
  type Seen,
  section,
  sectionsOf,
  type Told,
  titles,
} from "./_faults.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Finished, type Home, svcCommand } from "./_process.ts";

afterEach(stopAll);

const writes = process.env.SVC_WRITE_PAGES === "1";
const seenHere: Told[] = [];
const text = () => readFile(page, "utf8").catch(() => "");

afterAll(async () => {
  if (writes) await writeFile(page, pageWith(await text(), seenHere));
});

/** The page tells what was seen, word by word. */
async function expectOnPage(told: Told): Promise<void> {
  seenHere.push(told);
  if (!writes) expect(section(told)).toBe(sectionsOf(await text()).get(told.title));
}

const shim = join(root, "test/fixtures/fault-shim.mjs");
const control = (home: Home) => join(home.stateDir, "..", "control");
const words = (line: string) => line.split(" ").slice(1);

/** Nothing counts that was there before the fault. */
async function expectWell(home: FaultHome): Promise<void> {
  const seen = await look(home);
  expect(seen.health).toEqual([expect.stringMatching(/^Gateway: ok /)]);
  expect(seen.readyz).toEqual(['200 {"ready":true,"phase":"ready","failing":[],"problems":{}}']);
  expect({ status: seen.status, doctor: seen.doctor }).toEqual({ status: ["nothing: the table is as ever"], doctor: [] });
}

async function repairedBy(home: FaultHome, line: string, run: Run = command): Promise<Finished> {
  const done = await run(home, words(line));
  expect(done, done.stderr + done.stdout).toMatchObject({ code: 0 });
  return done;
}

/** The command that the doctor names for a finding. */
function remedyIn({ doctor }: Seen, id: string): string {
  const at = doctor.findIndex((line) => line.split(" ")[1] === id);
  expect(at, doctor.join("\n")).toBeGreaterThanOrEqual(0);
  return doctor[at + 1]?.replace(/^→ /, "") ?? "";
}

const told = (title: (typeof titles)[number], about: string, rest: Omit<Told, "title" | "about">): Told => ({ title, about, ...rest });

/** The gateway of a home as a process, watched from outside. */
const started = (home: FaultHome, env: Record<string, string> = {}) => gatewayIn(home, [], env);

test("a gateway that was killed, by a signal or by the limit of its heap: everybody says so, and a start repairs it", async () => {
  const home = await faultHome();
  const gateway = await started(home, { NODE_OPTIONS: `--max-old-space-size=64 --import ${shim}`, SVC_TEST_HOG_FILE: control(home) });
  const since = await logLength(home);
  const ended = once(gateway.child, "close");
  await writeFile(control(home), "");
  expect(await ended).toEqual([null, "SIGABRT"]);
  expect(gateway.out.stderr).toContain("JavaScript heap out of memory");
  const seen = await look(home, { since });

  expect(seen.gatewayStatus).toContain("Runtime: stopped (it ended without being asked to; started <time>)");
  expect(remedyIn(seen, "boot/unclean-end")).toBe("start it with: svc gateway");
  await rm(control(home));
  const before = await logLength(home);
  const again = await started(home);
  await expectWell(home);
  const after = await loggedSince(home, before);
  expect(after).toEqual([expect.stringContaining("ended without being asked to")]);

  const sinceAgain = await logLength(home);
  await again.kill("SIGKILL");
  expect(await look(home, { since: sinceAgain })).toEqual(seen);
  const about =
    "`kill -9`, the killer of the system when memory is short, the limit of the heap, or a machine that went down. Nothing that was accepted is lost. Three such ends within five minutes start the gateway in safe mode.";
  await expectOnPage(told("The process is killed", about, { seen, repair: "svc gateway", after }));
});

test("memory runs short: work is refused in stages that everybody names, and a restart repairs it", async () => {
  const home = await faultHome();
  let bytes = 200_000_000;
  await gatewayHere(home, [], {}, { memory: () => ({ rssBytes: () => bytes, limitBytes: 1_000_000_000 }) });
  const since = await logLength(home);
  bytes = 850_000_000;
  await eventually(async () => (await command(home, ["health", "--verbose"])).stdout.includes("memoryPressure"));
  const seen = await look(home, { since });

  expect(seen.readyz[0]).toMatch(/^503 .*memoryPressure.*new runs and connections from other machines are refused/);
  expect(remedyIn(seen, "gateway/problem")).toBe("svc gateway restart");
  bytes = 200_000_000; // what a restart frees
  await repairedBy(home, "svc gateway restart");
  await expectWell(home);
  const about =
    "From 70 % of the limit (that of the control group, or 1.5 GB) indexing pauses, from 80 % new runs are refused, and at 90 % a gateway under a supervisor restarts by itself. One that is ended for its memory is the first fault of this page.";
  await expectOnPage(told("Memory runs short", about, { seen, repair: "svc gateway restart" }));
});

const SIZE_MIB = 96;
const oldLog = (home: Home) => join(home.stateDir, "logs", "gateway-2020-01-01.jsonl");

function mount(folder: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MIB}m,mode=700`, "none", folder]).status === 0;
}

/** Appends until not a byte more has room. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "a");
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      while (
        await file.appendFile(Buffer.alloc(size)).then(
          () => true,
          (error: NodeJS.ErrnoException) => error.code !== "ENOSPC",
        )
      );
    }
  } finally {
    await file.close().catch(() => undefined);
  }
}

test("a full disk is named with its remedy, reads go on, and once old logs are gone writing resumes by itself", async ({ skip }) => {
  const home = await faultHome();
  if (!mount(home.stateDir)) return skip("only root may mount a small file system, and not everywhere");
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(configOf(home.port)), { mode: 0o600 });
  await mkdir(join(home.stateDir, "logs"));
  await started(home);
  stopLater(async () => void spawnSync("umount", ["-l", home.stateDir]));
  const since = await logLength(home);
  const log = await open(oldLog(home), "w");
  await log.appendFile(Buffer.alloc(60_000_000));
  await log.close();
  await fill(join(home.stateDir, "ballast"));
  await eventually(async () => (await command(home, ["system", "event", "--text", "x".repeat(10_000)])).code !== 0);
  await eventually(async () => (await command(home, ["health", "--verbose"])).stdout.includes("the disk is full"));
  const seen = await look(home, { since });

  expect(seen.readyz[0]).toMatch(/^503 .*"failing":\["store"\]/);
  expect(seen.doctor.join("\n")).toMatch(/gateway\/problem store: the disk is full[\s\S]*disk\/free/);
  const line = "svc doctor --fix";
  await command(home, words(line));
  await expect(stat(oldLog(home))).rejects.toMatchObject({ code: "ENOENT" });
  await eventually(async () => (await command(home, ["health", "--verbose"])).code === 0);
  expect((await command(home, ["system", "event", "--text", "x"])).code).toBe(0);
  const about =
    "What would have to be stored is refused (HTTP 503, `UNAVAILABLE`), reads go on, and nothing is half stored. Writing resumes within five seconds of free space. `--fix` deletes the oldest logs down to 50 MB; where that is not enough, free some space by hand.";
  await expectOnPage(told("The disk is full", about, { seen, repair: line }));
});

test("a damaged database is found without a gateway, and repaired by one command", async () => {
  const home = await faultHome();
  const first = await started(home);
  expect((await command(home, ["agent", "-m", "hello"])).code).toBe(0);
  await first.kill("SIGTERM");
  const since = await logLength(home);
  const file = await open(join(home.stateDir, "state.sqlite"), "r+");
  await file.write(Buffer.alloc(16_384, 0x5a), 0, 16_384, 8_192);
  await file.close();
  const seen = await look(home, { since });

  const line = remedyIn(seen, "sessions/corrupt");
  expect(line).toBe("svc sessions repair");
  expect((await repairedBy(home, line)).stdout).toMatch(
    /^Repaired: the state database was damaged .* is kept as state\.sqlite\.corrupt\.\d+/,
  );
  await started(home);
  await expectWell(home);
  expect((await command(home, ["agent", "-m", "hello"])).code).toBe(0);
  const about =
    "The damaged file is kept, the newest snapshot takes its place, and what can still be read is taken over. A start does the same by itself when the last end was unclean; damage that is met while running stops all writes (`/readyz`: 503, `store`), and `svc gateway restart` repairs it.";
  await expectOnPage(told("The database is damaged", about, { seen, repair: line }));
});

test("a lost config does not end a running gateway; the last good one is put back by one command", async () => {
  const home = await faultHome();
  await started(home);
  const since = await logLength(home);
  await rm(join(home.stateDir, "svc.json"));
  await eventually(async () => (await loggedSince(home, since)).join().includes("is gone"));
  const seen = await look(home, { since });

  expect(seen.status.join("\n")).toContain("svc doctor --fix --restore-last-good");
  const line = remedyIn(seen, "config/missing").replace(/,.*/, "");
  await repairedBy(home, line);
  await eventually(async () => (await command(home, ["gateway", "status"])).stdout.includes("Config reload: active"));
  await expectWell(home);
  const about =
    "A gateway that runs keeps the config that it has; one that starts is refused (exit code 78). Commands have no token without the file. A copy of the last config that worked is beside it (`svc.json.last-good`).";
  await expectOnPage(told("The config is lost", about, { seen, repair: line }));
});

/** As somebody who is not let through by being root. */
const unprivileged: Run =
  process.getuid?.() === 0
    ? async (home, args) => {
        const options = ["--inh-caps=-all", "--bounding-set=-all", process.execPath, join(root, "bin/svc.mjs"), ...args];
        const child = spawn("setpriv", options, { env: home.env, stdio: ["ignore", "pipe", "pipe"] });
        const out = { stdout: "", stderr: "" };
        child.stdout.on("data", (chunk: Buffer) => (out.stdout += chunk.toString()));
        child.stderr.on("data", (chunk: Buffer) => (out.stderr += chunk.toString()));
        const [code] = (await once(child, "close")) as [number | null];
        return { code, ...out };
      }
    : svcCommand;

test("files that the gateway may not use are each named, and given back by one command", async () => {
  const home = await faultHome();
  const first = await started(home);
  await first.kill("SIGTERM");
  const since = await logLength(home);
  await chmod(join(home.stateDir, "svc.json"), 0);
  await chmod(join(home.stateDir, "state.sqlite"), 0o400);
  expect((await unprivileged(home, ["gateway"])).code).toBe(78);
  const seen = await look(home, { since, run: unprivileged });

  expect(seen.doctor.join("\n")).toMatch(
    /config\/perms ~\/\.svc\/svc\.json: mode 0000: [\s\S]*state\/perms ~\/\.svc\/state\.sqlite: mode 0400/,
  );
  const line = "svc doctor --fix";
  await repairedBy(home, line, unprivileged);
  await started(home);
  await expectWell(home);
  const about =
    "Files of the own user get their rights back by `--fix`; for those of another one (after a start as root, for instance) the doctor prints the `sudo chown` that hands them over. Files that others can read are a warning with the same remedy.";
  await expectOnPage(told("Files may not be used", about, { seen, repair: line }));
});

test("two gateways that want one port: the second is refused and told which port is free", async () => {
  const first = await faultHome();
  await started(first);
  const home = { ...(await faultHome()), port: first.port };
  await writeFile(
    join(home.stateDir, "svc.json"),
    JSON.stringify({ ...configOf(home.port), gateway: { ...configOf(home.port).gateway, auth: { token: "of-the-second-gateway" } } }),
    { mode: 0o600 },
  );
  const refused = await command(home, ["gateway"]);
  expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining("another gateway instance is already listening") });
  const seen = await look(home);

  expect((await fetch(`http://127.0.0.1:${first.port}/readyz`)).status).toBe(200);
  const fix = await rawRemedy(home, "port/conflict");
  await repairedBy(home, fix);
  const port = Number(fix.split(" ").at(-1));
  await started({ ...home, port });
  await expectWell({ ...home, port });
  const about =
    "Two profiles, or two copies of a config. The first gateway is not disturbed. A second one with the same state directory is refused as well (`gateway already running`), and needs a profile of its own: see [several gateways](guide/several-gateways.md).";
  await expectOnPage(told("Two gateways want one port", about, { seen, repair: plain(home, fix) }));
});

/** With its figures, to be run. */
async function rawRemedy(home: FaultHome, id: string): Promise<string> {
  const { stdout } = await command(home, ["doctor", "--json", "--only", id]);
  const { findings } = JSON.parse(stdout) as { findings: Array<{ fix: string }> };
  return /^svc config set gateway\.port \d+/.exec(findings[0]?.fix ?? "")?.[0] ?? "";
}

test("a clock that goes a year ahead is told by everybody until it is set back", async () => {
  const home = await faultHome();
  await started(home, { NODE_OPTIONS: `--import ${shim}`, SVC_TEST_CLOCK_FILE: control(home) });
  const since = await logLength(home);
  await writeFile(control(home), String(365 * 86_400_000));
  await eventually(async () => (await command(home, ["health", "--verbose"])).stdout.includes("the clock of the system"));
  await eventually(() => stat(join(home.stateDir, "gateway", "notices", "clock-jump.json")));
  const seen = await look(home, { since });

  expect(seen.doctor.join("\n")).toMatch(/warning clock\/jump .*went forward by 365 days/);
  const line = "sudo timedatectl set-ntp true";
  expect(remedyIn(seen, "clock/jump")).toContain(line);
  await rm(control(home)); // what that command does to the clock
  await eventually(async () => !(await command(home, ["health", "--verbose"])).stdout.includes("the clock"));
  await eventually(async () => (await command(home, ["doctor"])).code === 0);
  await expectWell(home);
  const about =
    "Limits, time-outs and leases go by a clock that nobody can set. What expires by date is not dropped before a second look a minute later. A machine that was suspended for days looks the same; then `svc doctor --fix` clears the notice.";
  await expectOnPage(told("The clock goes a year ahead", about, { seen, repair: line }));
});

test("another program on the port is named, and the gateway gets a port that is free", async () => {
  const home = await faultHome();
  const server = createServer((_, res) => res.writeHead(404).end()).listen(home.port, "127.0.0.1");
  stopLater(async () => void server.close());
  await once(server, "listening");
  const refused = await command(home, ["gateway"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/port \d+ is in use by .+ \(pid \d+\): EADDRINUSE/) });
  const seen = await look(home);

  const fix = await rawRemedy(home, "port/conflict");
  await repairedBy(home, fix);
  const port = Number(fix.split(" ").at(-1));
  await started({ ...home, port });
  await expectWell({ ...home, port });
  const about =
    "The start fails with exit code 1, so that a supervisor tries again for a while. `svc gateway --force` ends the program on the port instead, if it belongs to you.";
  await expectOnPage(told("Another program holds the port", about, { seen, repair: plain(home, fix) }));
});

test("the page has these sections and no others", async () => {
  if (!writes) expect([...sectionsOf(await text()).keys()]).toEqual([...titles]);
});
