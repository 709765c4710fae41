import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bootstrapSource } from "../../sdk/worker.ts";

let folder: string;
let host: ChildProcess | undefined;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-ends-")));
});
afterEach(async () => {
  if (host?.exitCode === null && host.signalCode === null) host.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** Starts a process with a guest whose tool `stuck` is `stuck`; resolves once it has said `word`. */
async function run(mode: "worker" | "process", stuck: string, word: RegExp): Promise<{ said: string; ended: Promise<unknown[]> }> {
  const plugin = `import { writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { definePlugin, z } from "svc/sdk";
const tool = (name, run) => ({ name, description: name, input: z.object({}), run });
export default definePlugin({ id: "guest", version: "1.0.0", svc: { api: "^1.0.0" }, setup(ctx) {
  ctx.registerTool(tool("pid", () => process.pid));
  ctx.registerTool(tool("stuck", () => { ${stuck} }));
} });`;
  await writeFile(join(folder, "index.ts"), plugin);
  const source = bootstrapSource(new URL("../fixtures/sandbox-host.ts", import.meta.url));
  host = spawn(process.execPath, ["--input-type=module", "-e", source, mode, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(host, "exit");
  let said = "";
  host.stdout?.on("data", (chunk: Buffer) => {
    said += String(chunk);
  });
  await eventually(() => word.test(said));
  return { said, ended };
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a guest in an endless loop does not outlive a process that was killed", async () => {
  const { said } = await run("process", "for (;;);", /guest \d+\n/);
  const guest = Number(/guest (\d+)/.exec(said)?.[1]);
  expect(isRunning(guest)).toBe(true);
  host?.kill("SIGKILL");
  await eventually(() => !isRunning(guest));
});

test("a thread that waits for a program does not keep the process from ending", async () => {
  const stuck = `writeFileSync(${JSON.stringify(join(folder, "stuck"))}, ""); execFileSync("/bin/sleep", ["40"]);`;
  const { ended } = await run("worker", stuck, /ending\n/);
  expect(await ended).toEqual([null, "SIGKILL"]);
});
