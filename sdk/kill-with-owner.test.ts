import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "./testing/eventually.ts";

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** An owner that is killed at once, of a shell that has a sleeping child; prints both ids. */
const owner = (options: string) => `
import { spawn } from "node:child_process";
import { killWithOwner } from ${JSON.stringify(join(import.meta.dirname, "kill-with-owner.ts"))};
const child = spawn("/bin/sh", ["-c", "sleep 300 & echo $$ $!; wait"], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
killWithOwner(child, ${options});
child.stdout.once("data", (ids) => {
  process.stdout.write(String(ids));
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 50);
});`;

async function idsOf(options: string): Promise<[leader: number, member: number]> {
  const source = owner(options);
  const jiti = `const { createJiti } = await import("jiti"); await createJiti(${JSON.stringify(import.meta.url)}).evalModule(${JSON.stringify(source)}, { async: true, filename: ${JSON.stringify(join(import.meta.dirname, "owner.ts"))} });`;
  const process_ = spawn(process.execPath, ["--input-type=module", "-e", jiti], { stdio: ["ignore", "pipe", "inherit"] });
  const [out] = await Promise.all([text(process_.stdout), once(process_, "exit")]);
  return out.trim().split(" ").map(Number) as [number, number];
}

test("a child is killed with its owner, and with `group` all that it started", async () => {
  const [leader, member] = await idsOf("{ group: true }");
  await eventually(() => !isAlive(leader) && !isAlive(member));
});

test("without `group` what it started lives on", async () => {
  const [leader, member] = await idsOf("{}");
  await eventually(() => !isAlive(leader));
  expect(isAlive(member)).toBe(true);
  process.kill(member, "SIGKILL");
});
