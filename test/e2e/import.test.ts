import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { oldSecret, writeOldGateway } from "../fixtures/old-gateway.ts";
import { configured, freshHome, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import type { Home } from "./_process.ts";

afterEach(stopAll);

interface Report {
  changed?: boolean;
  backup?: string;
  changedPaths: string[];
  sessions: Array<{ key: string; messages: number }>;
  notes: Array<{ agentId: string; path: string }>;
  leftOut: Array<{ path: string; reason: string }>;
}

/** A gateway that was set up and has a note of its own, and the folder of another one beside it. */
async function prepared(): Promise<{ home: Home; old: string }> {
  const config = { gateway: { mode: "local", auth: { token } }, agents: { defaults: { memorySearch: { provider: "none" } } } };
  const home = await configured(await freshHome(), config);
  await mkdir(join(home.stateDir, "workspace"), { recursive: true });
  await writeFile(join(home.stateDir, "workspace/AGENTS.md"), "own rules\n");
  const old = join(dirname(home.stateDir), "old");
  await writeOldGateway(old);
  return { home, old };
}

const imported = async (home: Home, args: string[]) => (await commandJson(home, ["import", ...args])).value as unknown as Report;
const configOf = (home: Home) => readFile(join(home.stateDir, "svc.json"), "utf8");

test("another gateway's folder is shown, taken over once, and answers here: its conversations are listed and its notes found", async () => {
  const { home, old } = await prepared();
  const before = await configOf(home);

  const plan = await imported(home, [old, "--dry-run"]);
  expect([await configOf(home), (await readdir(home.stateDir)).sort()]).toEqual([before, ["svc.json", "workspace"]]);
  const done = await imported(home, [old]);

  const keys = ["agent:main:main", "agent:main:telegram:direct:42", "agent:ops:main"];
  expect(done.sessions.map(({ key }) => key)).toEqual(keys);
  expect([plan.sessions, plan.changedPaths]).toEqual([done.sessions, done.changedPaths]);
  expect(await readFile(done.backup ?? "", "utf8")).toBe(before);
  expect(await readFile(join(home.stateDir, "workspace/AGENTS.md"), "utf8")).toBe("own rules\n");
  const written = JSON.parse(await configOf(home));
  expect(written).toMatchObject({
    gateway: { mode: "local", auth: { token } },
    agents: { list: [{ id: "main", name: "Ada" }, { id: "ops" }] },
    models: { providers: { house: { apiKey: "$" + "{OLD_MODEL_KEY}" } } },
    channels: { telegram: { token: oldSecret, enabled: false, allowFrom: [42] } },
    bindings: [{ agentId: "ops", match: { peer: { kind: "direct", id: "42" } } }],
  });
  expect(JSON.stringify([plan, done])).not.toContain(oldSecret);

  const again = await imported(home, [old]);
  expect(again).toMatchObject({ changed: false, changedPaths: [], sessions: [], notes: [] });

  await gatewayHere(home);
  expect(await command(home, ["import", old])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/a gateway is running \(pid \d+\)/),
  });
  const listed = (await commandJson(home, ["sessions", "list"])).value as { sessions: Array<{ key: string }> };
  expect(listed.sessions.map(({ key }) => key).sort()).toEqual(keys);
  const history = JSON.stringify((await commandJson(home, ["sessions", "show", "agent:main:main"])).value);
  expect(history).toContain("Under the third plank.");
  const hits = await eventually(async () => {
    const { results } = (await commandJson(home, ["memory", "search", "lighthouse keeper"])).value as { results: Array<{ path: string }> };
    return results.length > 0 && results;
  }, 30_000);
  expect(hits[0]).toMatchObject({ path: "MEMORY.md" });
});

test("each thing that does not come is listed with its place and reason, and no row is forged", async () => {
  const { home, old } = await prepared();

  const { leftOut } = await imported(home, [old, "--dry-run"]);
  const shown = await command(home, ["import", old, "--dry-run"]);

  const reasons = Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason]));
  expect(reasons).toMatchObject({
    "broken.json": expect.stringContaining("not JSON5: line 1"),
    "config:gateway": expect.stringContaining("of its own"),
    "config:channels.pigeon": "there is no such channel here",
    "config:channels.telegram.streamMode": "there is no such key here",
    "config:agents.defaults.sandbox": 'unknown key "sandbox"',
    "cron: morning report": expect.stringMatching(/^schedule: /),
    "agents/main/sessions/11111111-1111-4111-8111-111111111111.jsonl:5": "the line is not JSON",
    "agents/main/sessions/sessions.json: agent:main:escape": "it names no transcript",
    "workspace/memory/passwd.md": "is a symbolic link",
    "workspace/AGENTS.md": expect.stringContaining("other content"),
    "credentials/": expect.stringContaining("not imported"),
  });
  expect([shown.code, shown.stdout.includes(oldSecret), shown.stdout.includes("\\u000alines.md")]).toEqual([0, false, true]);
});

test("a folder of notes alone goes to the agent that is named; one of which nothing is known, or a gateway not set up, is refused", async () => {
  const { home, old } = await prepared();
  await imported(home, [old]);
  await writeFile(join(old, "workspace-ops/memory.md"), "x");

  const outcome = await imported(home, [join(old, "workspace-ops"), "--agent", "ops"]);

  expect(outcome.notes).toEqual([{ agentId: "ops", path: "memory.md" }]);
  expect(await command(home, ["import", join(old, "workspace-ops"), "--agent", "nobody"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('agent "nobody" is not configured here; expected one of main, ops'),
  });
  expect(await command(home, ["import", join(old, "cron")])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nothing in it is known"),
  });
  const fresh = await freshHome();
  await mkdir(fresh.stateDir);
  expect(await command(fresh, ["import", old])).toMatchObject({ code: 1, stderr: expect.stringContaining("run svc setup") });
});
