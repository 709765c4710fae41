import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { staleLocks } from "./lock-checks.ts";
import { portFindings } from "./port-checks.ts";
import { serviceFindings } from "./service-checks.ts";

test("locks of dead processes are found, those of the living and what is no lock are not", async () => {
  const stateDir = await realpath(await mkdtemp(join(tmpdir(), "svc-locks-")));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  const configPath = join(stateDir, "svc.json");
  await writeFile(configPath, "{}");
  await mkdir(join(stateDir, "gateway"));
  const hash = createHash("sha1").update(configPath).digest("hex").slice(0, 8);
  const paths = [`${configPath}.lock`, join(stateDir, "gateway/state.lock"), join(stateDir, `gateway.${hash}.lock`)];
  const dead = JSON.stringify({ pid: 2 ** 22 + 1, startTime: "1", createdAt: 0 });
  const recycled = JSON.stringify({ pid: process.pid, startTime: "another process", createdAt: 0 });
  expect(await staleLocks({ configPath, stateDir })).toEqual([]);
  for (const path of paths) await writeFile(path, dead);
  await writeFile(paths[1] as string, recycled);
  expect(await staleLocks({ configPath, stateDir })).toEqual(paths);
  for (const path of paths) await writeFile(path, JSON.stringify({ pid: process.pid, startTime: null, createdAt: 0 }));
  await writeFile(paths[0] as string, "{");
  expect(await staleLocks({ configPath, stateDir })).toEqual([]);
});

test("a port that somebody else holds is an error with the holder's name", () => {
  const holder = { pid: 7, command: "nginx" };
  expect(portFindings({ port: 18_789, holders: [{ ...holder, isGateway: false }], free: 18_809 })).toEqual([
    {
      id: "port/conflict",
      severity: "error",
      path: "gateway.port",
      message: "port 18789 is held by nginx (pid 7), so no gateway of this profile can start",
      fix: "svc config set gateway.port 18809; or end that program",
    },
  ]);
  expect(portFindings({ port: 18_789, holders: [{ ...holder, isGateway: true }] })[0]).toMatchObject({
    fix: expect.stringContaining("svc gateway probe"),
  });
  expect(portFindings({ port: 18_789, holders: [] })).toEqual([]);
});

test("drift of a service is fixable unless another owner has it", () => {
  const issue = { id: "service/port-drift", severity: "warning", message: "m", fix: "f", isReinstall: true } as const;
  const owner = { id: "service/system-unit-owner", severity: "info", message: "o", fix: "f", isReinstall: false } as const;
  const fixables = (issues: Parameters<typeof serviceFindings>[0]["issues"], isExternal = false) =>
    serviceFindings({ definitionPath: "/u", issues, isExternal }).map(({ fixable }) => fixable);
  expect(fixables([issue])).toEqual([true]);
  expect(fixables([issue], true)).toEqual([false]);
  expect(fixables([owner, issue])).toEqual([false, false]);
});
