import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { buildFailing, failingAt } from "./_failpoints.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { createHome, type Home, svcCommand } from "./_process.ts";

/** `bin/svc.mjs` of the product with failpoints. */
let failing: string;
beforeAll(async () => {
  failing = await buildFailing();
});
afterEach(stopAll);

const rich = `// The house on the hill. Do not move this line.
{
  $schema: "./svc.schema.json",
  /* gateway: who may come in */
  gateway: {
    mode: 'local', // needed
    auth: { token: "\${E2E_TOKEN}" }, // from the environment

    reload: { "debounceMs": 50, },
  },
  logging: { $include: './logging.json5' },
  agents: {
    list: [
      { id: "main", name: 'M\\u00fcller' }, // me
      /* the office */ { id: "ops" },
    ],
  },
  env: { vars: { NOTE: 'a "quoted" one', HEX: "0x10" } },
  // nothing below
}

// end
`;
const logging = "// how loud\n{\n  level: 'info',   // not debug\n}\n";
const env = { E2E_TOKEN: token };

async function richHome(): Promise<Home> {
  const home = await freshHome();
  await mkdir(home.stateDir, { mode: 0o700 });
  await writeFile(join(home.stateDir, "svc.json"), rich, { mode: 0o600 });
  await writeFile(join(home.stateDir, "logging.json5"), logging);
  return home;
}

const config = (home: Home, name = "svc.json") => readFile(join(home.stateDir, name), "utf8");
const svc = (home: Home, ...args: string[]) => command(home, args, env);
/** The program itself, in a process of its own. */
const program = (home: Home, ...args: string[]) => svcCommand(home, args, env);
const json = (home: Home, args: string[]) => commandJson(home, args, env);
const last = (text: string) => text.trimEnd().split("\n").at(-1);

describe("without a gateway", () => {
  test("a key that is not part of this release: set refuses it, and in the file validate and doctor report it", async () => {
    const home = await richHome();
    const misspelt = await svc(home, "config", "set", "gateway.prot", "-1");
    expect([misspelt.code, misspelt.stderr]).toEqual([1, expect.stringContaining('did you mean "port"?')]);
    // The file has no such line.
    expect(misspelt.stderr).not.toMatch(/svc\.json:\d/);
    const refused = await svc(home, "config", "set", "meta.lastTouchedVersion", "one");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("meta.lastTouchedVersion: not part of this release; take it out"),
    ]);
    expect(await config(home)).toBe(rich);

    await writeFile(join(home.stateDir, "svc.json"), rich.replace("// nothing below", "meta: { lastTouchedVersion: 'one' },"));
    const verdict = await svc(home, "config", "validate");
    expect([verdict.code, verdict.stdout]).toEqual([
      1,
      expect.stringMatching(/svc\.json:\d+:\d+ {2}meta\.lastTouchedVersion: not part of this release/),
    ]);
    const { code, value } = await json(home, ["doctor"]);
    expect(code).toBe(1);
    expect(value.findings).toContainEqual(
      expect.objectContaining({ id: "config/not-in-release", severity: "error", path: "meta.lastTouchedVersion" }),
    );
  });

  test("config set, unset and patch change their place and keep every other byte", async () => {
    const home = await richHome();

    const set = await program(home, "config", "set", "agents.list[id=ops].name", "Ops people");
    expect([set.code, last(set.stdout)]).toEqual([0, "Gateway not running; takes effect at next start."]);
    expect(await config(home)).toBe(rich.replace('{ id: "ops" }', '{ id: "ops", name: "Ops people" }'));

    const unset = await svc(home, "config", "unset", "agents.list[1].name");
    expect(unset.code).toBe(0);
    expect(await config(home)).toBe(rich);

    expect(last((await svc(home, "config", "set", "gateway.mode", "local")).stdout)).toBe("No change.");
    await writeFile(join(home.stateDir, "change.json5"), "{ logging: { level: 'warn' } } // louder");
    expect((await svc(home, "config", "patch", "--file", join(home.stateDir, "change.json5"))).code).toBe(0);
    expect(await config(home)).toBe(rich);
    expect(await config(home, "logging.json5")).toBe(logging.replace("'info'", "'warn'"));
  });

  test("config get shows what is written, or what is used, and no secret", async () => {
    const home = await richHome();
    expect(await svc(home, "config", "get", "agents.list[id=main].name")).toMatchObject({ code: 0, stdout: "Müller\n" });
    expect(await svc(home, "config", "get", "gateway.auth", "--effective", "--json")).toMatchObject({ code: 0 });
    expect((await svc(home, "config", "get", "--effective")).stdout).not.toContain(token);
    const unset = await svc(home, "config", "get", "gateway.port");
    expect(unset).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("gateway.port is not set; the default is 18789") });
    expect(await svc(home, "config", "get", "gateway.bind", "--effective")).toMatchObject({ code: 0, stdout: "loopback\n" });
    const failed = await json(home, ["config", "get", "gateway.nothing"]);
    expect(failed).toMatchObject({ code: 1, value: { ok: false, error: { type: "config", code: "config-unset" } } });
  });

  test("a value that the command line must not lose", async () => {
    const home = await richHome();
    await svc(home, "config", "set", "env.vars.NOTE", "${HOME}/x");
    expect(await config(home)).toBe(rich.replace(`'a "quoted" one'`, "'${HOME}/x'"));
    await svc(home, "config", "set", "env.vars.NOTE", '"1"');
    expect(await config(home)).toContain("NOTE: '1'");
    const strict = await json(home, ["config", "set", "env.vars.NOTE", "text"]);
    expect(strict).toMatchObject({ code: 2, value: { ok: false, error: { type: "usage" } } });
  });

  test.each([
    ["an unknown key", ["set", "gateway.prt", "1"], 1, /unknown key "prt"[\s\S]*did you mean "port"\?/],
    ["entries that would vanish", ["set", "agents.list", "[]"], 1, /agents\.list: entries would be lost \(main, ops\); .*--replace/],
    ["an unset path", ["unset", "gateway.port"], 1, /gateway\.port is not set; nothing was written/],
    [
      "a present value that is another one",
      ["set", "gateway.mode", "remote", "--expect", '"x"'],
      1,
      /gateway\.mode is "local", not what --expect says/,
    ],
    ["a path without an end", ["set", "gateway.", "1"], 2, /expected a key after the dot/],
    ["no value", ["set", "gateway.port"], 2, /expected a value/],
    ["a patch from nowhere", ["patch"], 2, /expected one of --file and --stdin/],
  ])("%s is refused and the file stays", async (_, args, code, message) => {
    const home = await richHome();
    const done = await svc(home, "config", ...args);
    expect(done.code).toBe(code);
    expect(done.stderr).toMatch(message);
    expect(await config(home)).toBe(rich);
  });

  test("a refused candidate is kept beside the file, but not the one of a trial", async () => {
    const home = await richHome();
    const kept = async () => (await readdir(home.stateDir)).filter((name) => name.startsWith("svc.json.rejected."));
    expect((await svc(home, "config", "set", "gateway.prt", "1", "--dry-run")).code).toBe(1);
    expect(await kept()).toEqual([]);
    expect((await svc(home, "config", "set", "gateway.prt", "1")).code).toBe(1);
    const [name = ""] = await kept();
    expect(await config(home, name)).toContain("prt: 1");
  });

  test("validate warns about ids that no plugin goes by, as a start would", async () => {
    const home = await richHome();
    await svc(home, "config", "set", "plugins.entries.nosuch.enabled", "true");
    const { code, stdout } = await svc(home, "config", "validate");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warning: plugins\.entries\.nosuch: .+\n(.+\n)*.* is valid\.$/m);
  });

  test("six commands at the same time, three of them in one process, all leave their value", async () => {
    const home = await richHome();
    const names = ["A", "B", "C", "D", "E", "F"];
    const done = await Promise.all(names.map((name, i) => (i < 3 ? program : svc)(home, "config", "set", `env.vars.${name}`, name)));
    expect(done.map(({ code, stderr }) => ({ code, stderr }))).toEqual(names.map(() => ({ code: 0, stderr: "" })));
    const vars = (await json(home, ["config", "get", "env.vars"])).value;
    expect(vars).toMatchObject(Object.fromEntries(names.map((name) => [name, name])));
    expect(await config(home)).toContain("// The house on the hill.");
  });

  test("--dry-run, --merge, --replace and a SecretRef", async () => {
    const home = await richHome();
    const dry = await svc(home, "config", "set", "agents.list", '[{id: "main"}]', "--replace", "--dry-run");
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("Would change") });
    expect(await config(home)).toBe(rich);
    await svc(home, "config", "set", "gateway.reload", "{ mode: 'hot' }", "--merge");
    expect(await config(home)).toContain(`reload: { "debounceMs": 50, mode: "hot", }`);
    await svc(home, "config", "set", "gateway.auth.token", "--ref-source", "env", "--ref-id", "E2E_TOKEN");
    expect((await json(home, ["config", "get", "gateway.auth.token"])).value).toEqual({
      source: "env",
      provider: "default",
      id: "E2E_TOKEN",
    });
  });

  test("config validate, schema, types and file", async () => {
    const home = await richHome();
    expect(await svc(home, "config", "validate")).toMatchObject({ code: 0, stdout: expect.stringMatching(/is valid\.\n$/) });
    const without = await command(home, ["config", "validate"]);
    expect(without).toMatchObject({ code: 1, stdout: expect.stringContaining("E2E_TOKEN") });
    await writeFile(join(home.stateDir, "svc.json"), rich.replace("'local'", "'remote'"));
    expect(await svc(home, "config", "validate")).toMatchObject({ code: 1, stdout: expect.stringContaining("set gateway.mode=local") });
    await writeFile(join(home.stateDir, "svc.json"), "{ gateway: { port: 'x' }, bogus: 1 }");
    const invalid = await json(home, ["config", "validate"]);
    expect(invalid).toMatchObject({ code: 1, value: { ok: false, issues: [{ path: "gateway.port", line: 1 }, { path: "bogus" }] } });

    expect(Object.keys((JSON.parse((await svc(home, "config", "schema")).stdout) as { properties: object }).properties)).toContain(
      "gateway",
    );
    expect(await svc(home, "config", "file")).toMatchObject({ code: 0, stdout: `${join(home.stateDir, "svc.json")}\n` });
    expect((await svc(home, "config", "types")).code).toBe(0);
    expect(await config(home, "svc-config.d.ts")).toContain("export interface SvcConfig");
    expect(JSON.parse(await config(home, "svc.schema.json"))).toMatchObject({ type: "object" });
  });
});

describe("with a gateway", () => {
  test("a change is applied live or needs a restart, and the command says which", async () => {
    const home = await richHome();
    await writeFile(join(home.stateDir, "svc.json"), rich.replace('"debounceMs": 50,', 'mode: "hot"'));
    const before = await config(home);
    await gatewayHere(home, [], env);

    expect(await svc(home, "config", "set", "agents.list[id=ops].name", "x")).toMatchObject({
      code: 0,
      stdout: "Applied live by the running gateway.\n",
    });
    expect(await svc(home, "config", "unset", "agents.list[id=ops].name")).toMatchObject({
      code: 0,
      stdout: "Applied live by the running gateway.\n",
    });
    expect(await config(home)).toBe(before);
    const port = await json(home, ["config", "set", "gateway.port", "18790"]);
    expect(port.value).toMatchObject({ ok: true, action: "restart", message: "Restart needed: svc gateway restart (gateway.port)" });
    expect(await svc(home, "config", "set", "gateway.port", "18790")).toMatchObject({ stdout: "No change.\n" });
    const refused = await svc(home, "config", "set", "logging.level", "loud");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("logging.level") });
  });

  test("another machine's config is read and changed by --url, as far as the gateway shows it", async () => {
    const home = await richHome();
    const gateway = await gatewayHere(home, [], env);
    const elsewhere = await freshHome();
    const to = ["--url", `ws://127.0.0.1:${gateway.port}`, "--token", token];
    expect(await command(elsewhere, ["config", "get", "agents.list[id=main].name", ...to])).toMatchObject({
      code: 0,
      stdout: "Müller\n",
    });
    expect((await command(elsewhere, ["config", "get", "gateway.auth", ...to])).stdout).toContain("__SVC_REDACTED__");
    const set = await command(elsewhere, ["config", "set", "agents.list[id=ops].name", "x", ...to]);
    expect(set).toMatchObject({ code: 0, stdout: "Applied live by the running gateway.\n" });
    expect(await config(home)).toBe(rich.replace('{ id: "ops" }', '{ id: "ops", name: "x" }'));
    expect((await command(elsewhere, ["config", "set", "a.b", "1", "--dry-run", ...to])).code).toBe(2);
    expect(await readdir(elsewhere.stateDir).catch(() => [])).not.toContain("svc.json");
  });

  test("a new token ends the connection it came over, and the command still says that it is applied", async () => {
    const home = await richHome();
    await gatewayHere(home, [], env);
    const done = await svc(home, "config", "set", "gateway.auth.token", "another-long-token");
    expect(done).toMatchObject({ code: 0, stdout: "Applied live by the running gateway.\n" });
    expect((await svc(home, "gateway", "call", "health")).code).toBe(0);
  });
});

describe("a config with a syntax error", () => {
  test("leaves the commands their way to the running gateway, and says where the error is", async () => {
    const home = await configured(await freshHome(), { gateway: { mode: "local", port: await freePort(), auth: { token } } });
    const gateway = await gatewayHere(home);
    await eventually(() => readFile(join(home.stateDir, "svc.json.last-good")));
    await writeFile(join(home.stateDir, "svc.json"), '{\n  gateway: { mode: "local",\n  logging: {} ');

    for (const args of [["status"], ["sessions", "list"], ["agent", "--message", "hello"], ["logs"], ["dashboard", "--no-open"]]) {
      const done = await command(home, args);
      expect([args[0], done.code, done.code === 0 ? "" : done.stderr]).toEqual([args[0], 0, ""]);
      expect(done.stderr).toMatch(/^warning: svc\.json:3:\d+ .*; svc\.json\.last-good is used for address and token; repair the file/m);
      expect(done.stderr.match(/last-good is used/g)).toHaveLength(1);
    }
    expect((await command(home, ["dashboard", "--no-open"])).stdout).toContain(`#token=${token}`);

    await gateway.stop();
    const logs = await command(home, ["logs"]);
    expect([logs.code, logs.stdout]).toEqual([0, expect.stringContaining("listening on")]);
  });
});

/** The long form has fifty rounds. */
const isLong = process.env.SVC_TEST_LONG === "1";
const rounds = isLong ? 50 : 1;

test(`a config that is started, reloaded and stopped ${isLong ? `${rounds} times` : "once"} keeps every byte, and nobody wrote to it`, async () => {
  const home = await richHome();
  for (let i = 0; i < rounds; i++) {
    const gateway = await gatewayIn(home, [], env);
    gateway.child.kill("SIGHUP");
    await eventually(() => gateway.out.stderr.includes("SIGHUP: config unchanged"));
    expect(await gateway.kill("SIGTERM")).toBe(0);
  }
  expect(await config(home)).toBe(rich);
  expect(await config(home, "logging.json5")).toBe(logging);
  expect((await readdir(home.stateDir)).filter((name) => name.startsWith("svc.json"))).toEqual(["svc.json", "svc.json.last-good"]);
});

/** Steps of a write. The kill at one that only `SVC_TEST_LONG=1` has leaves the same files as the kill at the one before it. */
const steps = isLong
  ? ["after-lock", "before-write", "after-write", "after-fsync", "after-backup", "after-rename", "after-sync", "before-reply"]
  : ["after-lock", "before-write", "after-write", "after-backup", "after-rename", "before-reply"];

test("a writer killed at any step leaves the old bytes or the new ones, and the next write works", async () => {
  const home = await richHome();
  const changed = rich.replace("'local'", "'remote'");
  for (const point of steps) {
    await writeFile(join(home.stateDir, "svc.json"), rich);
    await writeFile(join(home.stateDir, "logging.json5"), logging);
    const killed = await svcCommand({ ...home, program: failing }, ["config", "set", "gateway.mode", "remote"], {
      ...env,
      ...failingAt(`config.${point}=kill`),
    });
    expect(killed, point).toMatchObject({ code: null, stdout: "" });
    const isNew = ["after-rename", "after-sync", "before-reply"].includes(point);
    expect(await config(home), point).toBe(isNew ? changed : rich);

    // A dead owner's lock becomes free with time.
    const longAgo = new Date(Date.now() - 11_000);
    await utimes(join(home.stateDir, "svc.json.lock"), longAgo, longAgo).catch(() => undefined);
    const next = await svc(home, "config", "set", "logging.level", point === "after-lock" ? "warn" : "debug");
    expect(next.code, `${point}: ${next.stderr}`).toBe(0);
    const left = (await readdir(home.stateDir)).filter((name) => /\.lock|\.tmp/.test(name));
    expect(left, point).toEqual([]);
  }
});

test.each([
  ["without SVC_TEST", () => failing, {}],
  ["in a release", () => undefined, { SVC_TEST: "1" }],
])("%s no failpoint is armed", async (_, programOf, env) => {
  const program = programOf();
  const home = { ...(await createHome()), ...(program ? { program } : {}) };
  try {
    await command(home, ["setup"]);
    const done = await svcCommand(home, ["config", "set", "logging.level", "warn"], {
      ...env,
      SVC_FAILPOINT: "config.after-lock=kill",
    });
    expect(done.code).toBe(0);
  } finally {
    await home.remove();
  }
});
