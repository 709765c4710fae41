import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processStartTime } from "svc/sdk/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { siblingProfiles } from "./sibling-profiles.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-siblings-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function profile(folder: string, lock?: unknown): Promise<string> {
  const stateDir = join(home, folder);
  await mkdir(join(stateDir, "gateway"), { recursive: true });
  if (lock !== undefined) await writeFile(join(stateDir, "gateway/state.lock"), typeof lock === "string" ? lock : JSON.stringify(lock));
  return stateDir;
}

const alive = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: 1 };
const siblings = (stateDir: string) => siblingProfiles({ env: { HOME: home }, stateDir });

test("the other profiles of the home are listed, with the gateway that runs there", async () => {
  const own = await profile(".svc", { ...alive, port: 18_789 });
  const work = await profile(".svc-work", { ...alive, port: 19_500, version: "0.1.0", configPath: "/etc/work.json" });
  const rescue = await profile(".svc-rescue");
  await profile(".svcx");
  await writeFile(join(home, ".svc-file"), "");

  expect(await siblings(own)).toEqual([
    { profile: "rescue", stateDir: rescue, configPath: join(rescue, "svc.json"), gateway: undefined },
    { profile: "work", stateDir: work, configPath: "/etc/work.json", gateway: { pid: process.pid, port: 19_500, version: "0.1.0" } },
  ]);
});

test("a state directory is no sibling of itself, by whatever name", async () => {
  const real = await profile(".svc-real");
  await symlink(real, join(home, "elsewhere"));
  expect(await siblings(join(home, "elsewhere"))).toEqual([]);
});

test("a lock that nobody alive holds, a damaged one and a link are no gateway", async () => {
  const own = await profile(".svc");
  await profile(".svc-dead", { ...alive, startTime: "1" });
  await profile(".svc-broken", "{");
  const linked = await profile(".svc-linked");
  await writeFile(join(home, "lock"), JSON.stringify(alive));
  await symlink(join(home, "lock"), join(linked, "gateway/state.lock"));
  expect((await siblings(own)).map(({ profile: name, gateway }) => [name, gateway])).toEqual([
    ["broken", undefined],
    ["dead", undefined],
    ["linked", undefined],
  ]);
});
