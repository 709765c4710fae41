import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, gatewayIn, root, stopAll, token } from "./_cli.ts";
import { command } from "./_command.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

const lines = (text: string) => text.split("\n").filter((line) => line !== "");
const documents = (text: string) => lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);
const call = (home: Home, method: string, params: object) =>
  command(home, ["gateway", "call", method, "--params", JSON.stringify(params), "--json"]);

/** `svc logs --follow` as its own process. */
function follow(home: Home, args: string[]) {
  const child = spawn(process.execPath, [join(root, "bin/svc.mjs"), "logs", "--follow", "--interval", "100", ...args], {
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = { text: "" };
  const add = (chunk: Buffer) => {
    out.text += chunk.toString();
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", add);
  return {
    out,
    // The next look at a gateway that is away may be 30 s off.
    shows: (text: string) => eventually(() => out.text.includes(text), 60_000),
    async interrupt() {
      if (child.exitCode !== null) throw new Error(`it ended by itself with ${child.exitCode}: ${out.text}`);
      const closed = once(child, "close");
      child.kill("SIGINT");
      return (await closed)[0] as number | null;
    },
  };
}

describe("with a running gateway", () => {
  let home: Home;
  let gateway: Running;
  beforeAll(async () => {
    home = await configured(await freshHome());
    gateway = await gatewayIn(home);
    await eventually(async () => (await command(home, ["logs"])).stdout.includes("[gateway] ready"));
  });
  afterAll(stopAll);

  test("logs shows its newest lines, one for each record", async () => {
    const { code, stdout, stderr } = await svcCommand(home, ["logs"]);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d info {2}\[gateway\] listening on ws:\/\/127\.0\.0\.1:\d+ bind=loopback auth=token$/m);
    expect(stdout).not.toContain(token);
  });

  test("logs --utc, --limit, --level and --subsystem show what is asked for", async () => {
    const newest = lines((await command(home, ["logs", "--utc", "--limit", "1", "--plain"])).stdout);
    expect(newest).toHaveLength(1);
    expect(newest[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info {2}\[gateway/);
    expect((await command(home, ["logs", "--level", "fatal"])).stdout).toBe("");
    const { stdout } = await command(home, ["logs", "--subsystem", "plugin/agents"]);
    for (const line of lines(stdout)) expect(line).toContain("[gateway/plugin/agents");
    expect(stdout).not.toBe("");
  });

  test("logs --json is a document a line: where, then the records", async () => {
    const { stdout, code } = await command(home, ["logs", "--json"]);
    const [meta, ...records] = documents(stdout);
    expect(code).toBe(0);
    expect(meta).toEqual({ type: "meta", file: expect.stringMatching(/gateway-[\d-]+\.jsonl$/), cursor: expect.any(Number) });
    for (const record of records) {
      expect(record).toMatchObject({ type: "log", ts: expect.any(String), level: expect.any(String), subsystem: expect.any(String) });
    }
    expect(records.map(({ message }) => message)).toContain("ready");
  });

  test("logs.tail answers the raw lines behind a cursor, to readers", async () => {
    const tail = async (params: object) =>
      JSON.parse((await call(home, "logs.tail", params)).stdout) as { cursor: number; lines: string[] };
    const { cursor, lines: all } = await tail({});
    expect(all.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain("ready");
    expect(await tail({ cursor })).toMatchObject({ truncated: false, reset: false });
    expect(await tail({ cursor: 900_000_000 })).toMatchObject({ reset: true });
    for (const params of [{ limit: 0 }, { limit: 5_001 }, { maxBytes: 1_000_001 }, { cursor: -1 }, { zzz: 1 }]) {
      expect((await call(home, "logs.tail", params)).stdout).toContain("invalid logs.tail params");
    }
  });

  test("contradicting and unknown values are usage errors", async () => {
    for (const args of [
      ["--utc", "--local-time"],
      ["--limit", "5001"],
      ["--max-bytes", "0"],
      ["--level", "loud"],
      ["--interval", "5"],
    ]) {
      expect(await command(home, ["logs", ...args]), args.join(" ")).toMatchObject({ code: 2 });
    }
  });

  test("logs with a wrong token says so and reads nothing around the gateway", async () => {
    expect(await command(home, ["logs", "--token", "wrong-token"])).toMatchObject({ code: 1, stdout: "" });
  });

  test("logs --follow shows what comes, outlives a restart of the gateway, and ends with Ctrl-C; with --json it tells of both in documents", async () => {
    const following = follow(home, []);
    const inDocuments = follow(home, ["--json", "--limit", "1"]);
    await following.shows("[gateway] ready");
    await inDocuments.shows('"type":"meta"');
    expect(await call(home, "config.patch", { raw: "{logging: {maxFiles: 4}}", baseHash: await hash(home) })).toMatchObject({ code: 0 });
    await following.shows("config.patch: wrote svc.json");

    await gateway.kill("SIGTERM");
    await following.shows("reading the log file");
    await following.shows("[gateway] stopped");
    await inDocuments.shows('"type":"notice"');
    gateway = await gatewayIn(home);
    await following.shows("connected to the gateway again");
    expect(await following.interrupt()).toBe(130);
    await inDocuments.interrupt();

    const shown = lines(following.out.text).filter((line) => line.includes("config.patch: wrote"));
    expect(shown).toHaveLength(1);
    expect(documents(inDocuments.out.text).every(({ type }) => type === "meta" || type === "log" || type === "notice")).toBe(true);
  });
});

describe("without a gateway", () => {
  afterEach(stopAll);

  test("logs reads the file, and lines that svc did not write as they are", async () => {
    const home = await configured(await freshHome());
    await mkdir(join(home.stateDir, "logs"));
    const record = { ts: "2026-03-01T12:03:44.120Z", level: "warn", subsystem: "gateway/hooks", msg: "slow", pid: 1, ms: 7 };
    await writeFile(join(home.stateDir, "logs", "gateway-2026-03-01.jsonl"), `${JSON.stringify(record)}\nnot ours\n`);
    const { code, stdout, stderr } = await command(home, ["logs", "--utc"]);
    expect(stdout).toBe("2026-03-01T12:03:44.120Z warn  [gateway/hooks] slow ms=7\nnot ours\n");
    expect(stderr).toContain("reading the log file");
    expect(code).toBe(0);
    const told = documents((await command(home, ["logs", "--json"])).stdout);
    expect(told.map(({ type }) => type)).toEqual(["notice", "meta", "log", "raw"]);
    expect(told[3]).toEqual({ type: "raw", line: "not ours" });
    expect(await readdir(home.stateDir)).not.toContain("state.lock");
  });

  test("logs of a gateway elsewhere fails when it is not there", async () => {
    const home = await configured(await freshHome());
    const { code, stderr } = await command(home, ["logs", "--url", `ws://127.0.0.1:${await freePort()}`, "--token", "x"]);
    expect(code).toBe(1);
    expect(stderr).toContain("gateway not reachable");
  });
});

async function hash(home: Home): Promise<string> {
  return (JSON.parse((await call(home, "config.get", {})).stdout) as { hash: string }).hash;
}
