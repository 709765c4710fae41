import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { endProcess } from "./free-port.ts";

/** A child that says when it is ready for signals. */
async function child(code: string) {
  const process_ = spawn(process.execPath, ["-e", `${code}; setInterval(() => {}, 1000); process.stdout.write("ready")`]);
  await once(process_.stdout, "data");
  return {
    pid: process_.pid as number,
    closed: once(process_, "close"),
    isStillThere: async () => process_.exitCode === null && process_.signalCode === null,
  };
}

it("ends a process that heeds SIGTERM without SIGKILL", async () => {
  const { pid, closed, isStillThere } = await child("");
  const told: string[] = [];
  await endProcess(pid, { isStillThere, told: (signal) => told.push(signal) });
  expect(await closed).toEqual([null, "SIGTERM"]);
  expect(told).toEqual(["SIGTERM"]);
});

it("ends one that ignores SIGTERM with SIGKILL after its time", async () => {
  const { pid, closed, isStillThere } = await child('process.on("SIGTERM", () => {})');
  const told: string[] = [];
  await endProcess(pid, { isStillThere, told: (signal) => told.push(signal) });
  expect(await closed).toEqual([null, "SIGKILL"]);
  expect(told).toEqual(["SIGTERM", "SIGKILL"]);
});

it("sends nothing to a pid that is not the process any more", async () => {
  await endProcess(process.pid, { isStillThere: async () => false, kill: () => expect.fail("signalled") });
});

it("takes a process that vanished meanwhile as ended, and passes on a refusal", async () => {
  const fail = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  await endProcess(1, { isStillThere: async () => true, kill: fail("ESRCH") });
  await expect(endProcess(1, { isStillThere: async () => true, kill: fail("EPERM") })).rejects.toThrow("EPERM");
});
