import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { command } from "./_command.ts";
import { createHome, type Home } from "./_process.ts";

const program = fileURLToPath(new URL("../../bin/svc.mjs", import.meta.url));

let home: Home;
const children: Array<ReturnType<typeof spawn>> = [];
beforeEach(async () => {
  home = await createHome();
  const setup = await command(home, ["setup", "--non-interactive"]);
  expect(setup, setup.stderr).toMatchObject({ code: 0 });
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
  }
  await home.remove();
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], { env: home.env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
}

async function portOf(child: { pid?: number | undefined; exitCode: number | null }): Promise<number> {
  return eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    const info = JSON.parse(await readFile(join(home.stateDir, "gateway", "runtime.json"), "utf8")) as { pid: number; port: number };
    return info.pid === child.pid && info.port;
  }, 30_000);
}

async function logText(): Promise<string> {
  const logs = join(home.stateDir, "logs");
  const files = (await readdir(logs)).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(files.map((name) => readFile(join(logs, name), "utf8")))).join("");
}

test("a gateway whose stdout and stderr are closed before the banner serves on, and the log file has its lines", async () => {
  const child = start("gateway");
  child.stdout.destroy();
  child.stderr.destroy();

  const port = await portOf(child);
  await eventually(async () => (await logText()).includes("stdout is closed (EPIPE)")); // the banner is what fails on stdout
  const listed = await command(home, ["plugins", "list"], { SVC_GATEWAY_PORT: String(port) });
  child.kill("SIGHUP");
  await eventually(async () => (await logText()).includes("SIGHUP: config"));

  expect(listed.code, listed.stderr).toBe(0);
  expect(child.exitCode).toBeNull();
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  const text = await logText();
  expect(text).toContain("stderr is closed (EPIPE); lines are missing there from now on, the log file has them");
  expect(text).not.toContain("uncaught exception");
  const closed = once(child, "close");
  child.kill("SIGTERM");
  expect(await closed).toEqual([0, null]);
});

/** Write end of a pipe that has no room left, and that nobody reads. */
function fullPipe(): number {
  const path = join(home.stateDir, "pipe");
  execFileSync("mkfifo", [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  for (const bytes of [65_536, 1]) {
    try {
      for (;;) writeSync(pipe, Buffer.alloc(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: "EAGAIN" });
    }
  }
  return pipe;
}

test("a gateway whose stdout and stderr nobody reads ends all the same when it is asked to", async () => {
  const pipe = fullPipe();
  const child = spawn(process.execPath, [program, "gateway"], { env: home.env, stdio: ["ignore", pipe, pipe] });
  children.push(child);
  closeSync(pipe);
  await portOf(child);

  const ended = once(child, "exit");
  child.kill("SIGTERM");

  expect(await ended).toEqual([0, null]);
});

test("a command whose reader has left ends quietly: a listing with its own code, one that follows after its reader has gone", async () => {
  const gateway = start("gateway");
  gateway.stdout.resume();
  gateway.stderr.resume();
  home.env.SVC_GATEWAY_PORT = String(await portOf(gateway));
  const run = async (args: string[]) => {
    const child = start(...args);
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stderr };
  };

  expect(await run(["--help"])).toEqual({ code: 0, stderr: "" });
  expect(await run(["logs"])).toEqual({ code: 0, stderr: "" });
  expect(await run(["logs", "--follow"])).toEqual({ code: 0, stderr: "" });
});

test("a command whose output finds no room says so and fails", async () => {
  const child = spawn("/bin/sh", ["-c", 'exec "$0" "$@" > /dev/full', process.execPath, program, "config", "get", "gateway"], {
    env: home.env,
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];

  expect({ code, stderr }).toEqual({ code: 1, stderr: "svc: stdout cannot be written: ENOSPC; the output is not complete\n" });
});
