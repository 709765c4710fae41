import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, svcCommand } from "./_process.ts";

/** `bin/svc.mjs` of the product with failpoints. */
let failing: string;
beforeAll(async () => {
  failing = await buildFailing();
});
afterEach(stopAll);

const secret = "secret-of-the-hooks-0001";
const config = {
  gateway: { mode: "local", auth: { token } },
  agents: { defaults: { memorySearch: { provider: "none" } } },
  hooks: { enabled: false, token: secret },
};

async function homeWith(note: string): Promise<Home> {
  const home = await configured(await freshHome(), config);
  await mkdir(join(home.stateDir, "workspace"), { recursive: true });
  await writeFile(join(home.stateDir, "workspace/MEMORY.md"), `${note}\n`);
  return home;
}

const noteIn = (stateDir: string) => readFile(join(stateDir, "workspace/MEMORY.md"), "utf8");
const configIn = async (stateDir: string) => JSON.parse(await readFile(join(stateDir, "svc.json"), "utf8")) as typeof config;
const beside = (home: Home, name: string) => join(dirname(home.stateDir), name);

async function say(home: Home, message: string): Promise<void> {
  expect(await command(home, ["agent", "-m", message])).toMatchObject({ code: 0 });
}

async function historyOf(home: Home): Promise<string> {
  return JSON.stringify((await commandJson(home, ["gateway", "call", "chat.history", "--params", '{"sessionKey":"main"}'])).value);
}

test("what is backed up while the gateway runs is whole, has no secret, and is restored into a second state directory", async () => {
  const home = await homeWith("the kettle is green");
  const dir = beside(home, "monday");
  const gateway = await gatewayHere(home);
  const made = await commandJson(home, ["backup", "create", dir]);
  expect(made).toMatchObject({ code: 0, value: { ok: true, dir, withSecrets: false } });
  expect(await commandJson(home, ["backup", "verify", dir])).toMatchObject({ code: 0, value: { ok: true, problems: [] } });
  expect(await command(home, ["backup", "create", dir])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing is overwritten"),
  });
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    const text = await readFile(join(parentPath, name), "latin1");
    expect([name, text.includes(secret), text.includes(token)]).toEqual([name, false, false]);
  }

  const refused = await command(home, ["backup", "restore", dir, "--replace"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/a gateway is running .*pid \d+.*nothing was changed/) });
  expect(await gateway.stop()).toBe(0);

  const second = { ...home, stateDir: beside(home, "second"), env: { ...home.env, SVC_STATE_DIR: beside(home, "second") } };
  const restored = await commandJson(second, ["backup", "restore", dir]);
  expect(restored).toMatchObject({
    code: 0,
    value: { setAside: [], missingSecrets: ["gateway.auth.token", "hooks.token"] },
  });
  expect(await noteIn(second.stateDir)).toBe("the kettle is green\n");
  // The first one may run beside it: nothing that it holds while it runs is in the copy.
  expect((await readdir(join(second.stateDir, "workspace"))).filter((name) => name.endsWith(".lock"))).toEqual([]);
  await gatewayHere(second);
  expect((await configIn(second.stateDir)).gateway.auth.token).toMatch(/^[\w-]{43}$/);
  expect(await command(second, ["doctor", "--only", "config/parse,config/schema,state/restored"])).toMatchObject({ code: 0 });
});

test("a restore in the place of a state brings conversations back, fills in the secrets that are there, and keeps what was there", async () => {
  const home = await homeWith("of monday");
  const first = await gatewayHere(home);
  await say(home, "remember the green kettle");
  await command(home, ["backup", "create", beside(home, "monday")]);
  await say(home, "this is said on tuesday");
  await writeFile(join(home.stateDir, "workspace/MEMORY.md"), "of tuesday\n");
  await first.stop();

  const occupied = await command(home, ["backup", "restore", beside(home, "monday")]);
  expect(occupied).toMatchObject({ code: 1, stderr: expect.stringContaining("add --replace") });
  const { code, value } = await commandJson(home, ["backup", "restore", beside(home, "monday"), "--replace"]);
  expect({ code, missing: value.missingSecrets }).toEqual({ code: 0, missing: [] });

  expect(await configIn(home.stateDir)).toEqual(config);
  const kept = (await readdir(home.stateDir)).find((name) => name.startsWith("before-restore-")) ?? "";
  expect([await noteIn(home.stateDir), await noteIn(join(home.stateDir, kept))]).toEqual(["of monday\n", "of tuesday\n"]);
  await gatewayHere(home);
  const history = await historyOf(home);
  expect([history.includes("green kettle"), history.includes("on tuesday")]).toEqual([true, false]);
});

test("killed at any step: the old state is untouched, or the next start of the gateway completes the restore", async () => {
  const home = await homeWith("old");
  const source = await homeWith("new");
  const dir = beside(source, "b");
  const run = (args: string[], point: string) => svcCommand({ ...home, program: failing }, args, failingAt(`${point}=kill`));

  for (const point of ["backup.after-database", "backup.before-rename"]) {
    expect((await run(["backup", "create", beside(home, "cut")], point)).code).toBeNull();
    expect((await readdir(dirname(home.stateDir))).filter((name) => name === "cut")).toEqual([]);
  }
  await command(home, ["backup", "create", beside(home, "cut")]);
  expect((await readdir(dirname(home.stateDir))).filter((name) => name.includes("cut"))).toEqual(["cut"]);
  await command(source, ["backup", "create", dir]);

  expect((await run(["backup", "restore", dir, "--replace"], "restore.after-stage")).code).toBeNull();
  expect(await noteIn(home.stateDir)).toBe("old\n");
  expect((await run(["backup", "restore", dir, "--replace"], "replacement.between-renames")).code).toBeNull();
  expect((await readdir(join(home.stateDir, "gateway"))).includes("replacement.json")).toBe(true);
  await rm(join(home.stateDir, "gateway/runtime.json"), { force: true });

  const gateway = await gatewayIn(home);

  expect(gateway.out.stderr + gateway.out.stdout).toContain("the restore of a backup had been cut off; it is complete now");
  expect(await noteIn(home.stateDir)).toBe("new\n");
  expect((await readdir(home.stateDir)).filter((name) => name.startsWith(".restore-"))).toEqual([]);
});

test("a replacement that cannot be completed refuses the start with what is in its way", async () => {
  const home = await homeWith("old");
  await mkdir(join(home.stateDir, "gateway"), { recursive: true });
  await writeFile(join(home.stateDir, "gateway/replacement.json"), '{"moves":[{"from":1}],"cleanUp":[]}');
  expect(await command(home, ["gateway"])).toMatchObject({
    code: 78,
    stderr: expect.stringMatching(/replacement\.json is damaged.*replacement\.json lists what is moved where/),
  });
});
