import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeEngine, fakeSidecarEngine } from "../fakes/sidecar-engine.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { commandJson } from "./_command.ts";
import type { Home } from "./_process.ts";

let home: Home;
let engine: FakeEngine;
beforeEach(async () => {
  home = await freshHome();
  engine = await fakeSidecarEngine(join(home.stateDir, "engine"));
  await configured(home, {
    gateway: { mode: "local", auth: { token } },
    memory: { backend: "sidecar", sidecar: { command: engine.command, limits: { timeoutMs: 60_000 } } },
  });
  const note = join(home.stateDir, "workspace/memory/router.md");
  await mkdir(dirname(note), { recursive: true });
  await writeFile(note, "The router stands in the hall.\n");
});
afterEach(stopAll);

/** Is a process of this group at work? One that has ended and that nobody asks for its end is none. */
async function isGroupAlive(group: number): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")));
  return stats.some((stat) => {
    const [state, , of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(of) === group && state !== "Z" && state !== "X";
  });
}

async function found(query: string): Promise<{ provider: string; results: Array<{ path: string }> }> {
  return (await commandJson(home, ["memory", "search", query])).value as { provider: string; results: Array<{ path: string }> };
}

describe("a gateway whose memory has an engine beside it", () => {
  test("that is killed during an update leaves no process, and finds everything at its next start", async () => {
    await engine.behave({ deeds: { update: { hang: true } } });
    const gateway = await gatewayIn(home);
    const [call] = await eventually(async () => {
      const calls = await engine.calls("update");
      return calls.length > 0 && calls;
    });
    const pid = call?.pid as number;
    expect(await isGroupAlive(pid)).toBe(true);
    await gateway.kill("SIGKILL");
    await eventually(async () => !(await isGroupAlive(pid)));

    await engine.behave({});
    const again = await gatewayIn(home);
    expect(await found("router")).toMatchObject({ provider: "sidecar", results: [{ path: "memory/router.md" }] });
    await again.kill("SIGTERM");
    for (const one of await engine.calls()) await eventually(async () => !(await isGroupAlive(one.pid)));
  });

  test("answers commands without a gateway, and shows its rows", async () => {
    expect(await found("router")).toMatchObject({ provider: "sidecar", results: [{ path: "memory/router.md" }] });
    const { agents } = (await commandJson(home, ["memory", "status"])).value as { agents: Array<{ backend: string; files: number }> };
    expect(agents).toMatchObject([{ backend: "sidecar", files: 1 }]);
  });
});
