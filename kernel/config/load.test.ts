import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { loadConfig } from "./load.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-config-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Text that is not on disk, as a file of an empty environment. */
const parseConfig = (text: string, path: string) => loadConfig(path, { env: {}, overlay: new Map([[path, text]]) });
const issuesOf = async (text: string) => {
  const loaded = await parseConfig(text, "/x/svc.json");
  expect(loaded.valid).toBe(loaded.issues.length === 0);
  return loaded.issues;
};
const onlyIssue = async (text: string) => {
  const issues = await issuesOf(text);
  expect(issues).toHaveLength(1);
  return issues[0] as (typeof issues)[number];
};

describe("a config file", () => {
  test("that is missing equals {}", async () => {
    const loaded = await loadConfig(join(dir, "nowhere.json"), { env: {} });
    expect(loaded).toMatchObject({ exists: false, valid: true, text: "", issues: [] });
    expect(loaded.config?.gateway.http.maxBodyBytes).toBe(20_000_000);
  });

  test("may have comments, trailing commas, single quotes, bare keys and a byte order mark", async () => {
    const path = join(dir, "svc.json");
    await writeFile(path, "\uFEFF// mine\n{ gateway: { 'port': 19_000 /* no */, }, }\n".replace("19_000", "19000"));
    expect((await loadConfig(path, { env: {} })).config?.gateway.port).toBe(19_000);
  });

  test("with a byte order mark still names the right column", async () => {
    const path = join(dir, "bom.json");
    await writeFile(path, "\uFEFF{ prot: 1 }");
    expect((await loadConfig(path, { env: {} })).issues).toMatchObject([{ path: "prot", line: 1, column: 3 }]);
  });

  test("is frozen all the way down once loaded", async () => {
    const { config } = await parseConfig('{ agents: { list: [{ id: "main", identity: { name: "A" } }] } }', "/x/svc.json");
    expect(() => {
      (config as { gateway: { port: number } }).gateway.port = 1;
    }).toThrow(TypeError);
    expect(() => {
      (config as unknown as { agents: { list: unknown[] } }).agents.list.push(1);
    }).toThrow(TypeError);
    expect(Object.isFrozen(config?.agents.list[0]?.identity)).toBe(true);
  });

  test("larger than 8 MiB is refused unread; at the limit it is read", async () => {
    const path = join(dir, "big.json");
    await writeFile(path, `{}${" ".repeat(8 * 1024 * 1024 - 2)}`);
    expect((await loadConfig(path, { env: {} })).valid).toBe(true);
    await writeFile(path, `{}${" ".repeat(8 * 1024 * 1024 - 1)}`);
    expect(await loadConfig(path, { env: {} })).toMatchObject({
      exists: true,
      valid: false,
      issues: [{ code: "parse", message: "larger than 8 MiB" }],
    });
  });

  test("that cannot be read is an issue, not a crash", async () => {
    expect((await loadConfig(dir, { env: {} })).issues).toMatchObject([
      { code: "parse", message: expect.stringContaining("cannot be read") },
    ]);
  });
});

describe("a syntax error is named with its place", () => {
  test.each([
    ['{\n  gateway: {\n    port: 1 bind: "lan"\n  }\n}', 3, 13],
    ["", 1, 1],
    ["{", 1, 2],
    ['{ a: "unterminated }', 1, 21],
  ])("%j", async (text, line, column) => {
    expect(await onlyIssue(text)).toMatchObject({
      path: "",
      code: "parse",
      line,
      column,
      message: expect.not.stringMatching(/JSON5|\d+:\d+/),
    });
  });
});

test.each(["[]", "5", "null", '"text"'])("a root that is no object is refused: %s", async (text) => {
  expect(await onlyIssue(text)).toMatchObject({ path: "", code: "invalid_type", line: 1, column: 1 });
});

describe("an unknown key", () => {
  test("stands at its own line and column, with the nearest known one", async () => {
    const issue = await onlyIssue('{\n  gateway: {\n    mode: "local",\n    prot: 1,\n  },\n}');
    expect(issue).toMatchObject({ path: "gateway.prot", code: "unknown_key", line: 4, column: 5, hint: 'did you mean "port"?' });
    expect(formatIssue(issue)).toBe('svc.json:4:5  gateway.prot: unknown key "prot"\n  hint: did you mean "port"?');
  });

  test("far from all others comes with the list of those", async () => {
    const issue = await onlyIssue("{ gateway: { auth: { hocuspocus: 1 } } }");
    expect(issue.hint).toBeUndefined();
    expect(issue.message).toBe('unknown key "hocuspocus"; known here: mode, token, password, trustedProxy, rateLimit, allowTailscale');
  });

  test("in a list is found too", async () => {
    expect(await onlyIssue('{ agents: { list: [{ id: "a" },\n { id: "b", modle: "x/y" }] } }')).toMatchObject({
      path: "agents.list.1.modle",
      line: 2,
      column: 13,
      hint: 'did you mean "model"?',
    });
  });

  test("is told apart from free maps, which take any", async () => {
    expect(await issuesOf("{ plugins: { entries: { any: { config: { thing: [1, { x: 2 }] } } } }}")).toEqual([]);
  });
});

describe("a wrong value", () => {
  test("names the allowed ones, what it got and the mode that was meant", async () => {
    const issue = await onlyIssue('{\n  gateway: {\n    bind: "0.0.0.0",\n  },\n}');
    expect(issue).toEqual({
      path: "gateway.bind",
      code: "invalid_value",
      message: 'expected one of loopback, lan, tailnet, auto, custom, got "0.0.0.0"',
      got: "0.0.0.0",
      allowed: ["loopback", "lan", "tailnet", "auto", "custom"],
      hint: '0.0.0.0 is bind mode "lan"',
      file: "svc.json",
      line: 3,
      column: 11,
    });
    expect(formatIssue(issue)).toBe(
      'svc.json:3:11  gateway.bind: expected one of loopback, lan, tailnet, auto, custom, got "0.0.0.0"\n  hint: 0.0.0.0 is bind mode "lan"',
    );
  });

  test.each([
    ["127.0.0.1", '127.0.0.1 is bind mode "loopback"'],
    ["localhost", 'localhost is bind mode "loopback"'],
    ["::", ':: is bind mode "lan"'],
    ["10.0.0.7", 'use bind mode "custom" with gateway.customBindHost'],
  ])("bind %s has a hint", async (bind, hint) => {
    expect((await onlyIssue(`{ gateway: { bind: "${bind}" } }`)).hint).toBe(hint);
  });

  test.each([
    ['{ gateway: { port: "18789" } }', "invalid_type", 'expected number, received string, got "18789"', "write the number without quotes"],
    ["{ gateway: { port: 0 } }", "too_small", "expected number to be >=1, got 0", undefined],
    ["{ gateway: { port: 65536 } }", "too_big", "expected number to be <=65535, got 65536", undefined],
    ["{ gateway: { port: 1.5 } }", "invalid_type", "expected int, received number, got 1.5", undefined],
    ["{ agents: 5 }", "invalid_type", "expected object, received number", undefined],
  ])("%s", async (text, code, message, hint) => {
    expect(await onlyIssue(text)).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((await onlyIssue(text)).hint).toBe(hint);
  });

  test("several of them are told at once", async () => {
    const issues = await issuesOf('{ gateway: { port: -1, bind: "everywhere", x: 1 }, logging: { level: "loud" }, hoks: {} }');
    expect(issues.map((i) => i.path).sort()).toEqual(["gateway.bind", "gateway.port", "gateway.x", "hoks", "logging.level"]);
  });
});

describe("a secret is never echoed", () => {
  test.each([
    ["of a wrong type", "{ gateway: { auth: { token: 5550123 } } }"],
    ["inside a list", '{ gateway: { auth: { token: ["5550123"] } } }'],
    ["written one level too high", '{ gateway: { auth: "5550123" } }'],
    ["written two levels too high", '{ gateway: "5550123" }'],
    ["in the place of a provider", '{ models: { providers: { acme: "5550123" } } }'],
    ["of a provider", "{ models: { providers: { acme: { apiKey: 5550123 } } } }"],
    ["as the whole file", '"5550123"'],
  ])("%s", async (_, text) => {
    const issue = await onlyIssue(text);
    expect(JSON.stringify(issue)).not.toContain("5550123");
    expect(issue.got).toBeUndefined();
  });

  test("while other values are shown, cut when long", async () => {
    expect((await onlyIssue(`{ gateway: { mode: "${"m".repeat(200)}" } }`)).message.length).toBeLessThan(140);
  });

  test("and an empty one is no secret", async () => {
    expect(await onlyIssue('{ gateway: { auth: { token: "" } } }')).toMatchObject({ path: "gateway.auth.token", code: "too_small" });
  });
});

describe("keys that could poison objects are refused where they stand", () => {
  test.each([
    ['{\n  "__proto__": { polluted: true } }', "__proto__", 2, 3],
    ["{ gateway: {\n    constructor: {} } }", "gateway.constructor", 2, 5],
    ["{ agents: { list: [{ prototype: 1 }] } }", "agents.list.0.prototype", 1, 22],
    ['{ plugins: { entries: { x: { config: { a: { "__proto__": {} } } } } } }', "plugins.entries.x.config.a.__proto__", 1, 45],
  ])("%j", async (text, path, line, column) => {
    expect(await onlyIssue(text)).toMatchObject({ path, code: "unknown_key", message: "this key is not allowed", line, column });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test.each([
  ["lists", `{ a: ${"[".repeat(200_000)}${"]".repeat(200_000)} }`],
  ["objects", `${"{a:".repeat(100_000)}1${"}".repeat(100_000)}`],
])("nesting without measure (%s) is an issue, not a crash", async (_, text) => {
  expect(await onlyIssue(text)).toMatchObject({ code: "parse", message: "nested deeper than 64 levels" });
});

describe("rules between keys", () => {
  test("two secrets need a mode", async () => {
    const text = '{ gateway: {\n  auth: { token: "aaaaaa", password: "bbbbbb" } } }';
    expect(await onlyIssue(text)).toMatchObject({ path: "gateway.auth", code: "conflict", line: 2 });
    expect(await issuesOf(text.replace("token:", 'mode: "token", token:'))).toEqual([]);
  });

  test("bind custom needs its address", async () => {
    expect(await onlyIssue('{ gateway: { bind: "custom" } }')).toMatchObject({ path: "gateway.bind", code: "conflict" });
    expect(await issuesOf('{ gateway: { bind: "custom", customBindHost: "10.0.0.7" } }')).toEqual([]);
  });

  test("agent ids are unique, and one agent at most is the default", async () => {
    const issues = await issuesOf('{ agents: { list: [{ id: "a", default: true },\n{ id: "a" },\n{ id: "b", default: true }] } }');
    expect(issues).toMatchObject([
      { path: "agents.list.1.id", code: "conflict", line: 2, message: 'agent id "a" is used twice' },
      { path: "agents.list.2.default", code: "conflict", line: 3 },
    ]);
  });

  test.each(["Main", "-a", "a b", "", "a".repeat(65)])("an agent id is lower-case and short: %j is refused", async (id) => {
    expect((await issuesOf(JSON.stringify({ agents: { list: [{ id }] } }))).map((i) => i.path)).toContain("agents.list.0.id");
  });
});

describe("amounts may be written with units", () => {
  test("durations and sizes", async () => {
    const { config } = await parseConfig('{ gateway: { shutdown: { drainMs: "1m30s" }, http: { maxBodyBytes: "1.5mb" } } }', "/x/svc.json");
    expect([config?.gateway.shutdown.drainMs, config?.gateway.http.maxBodyBytes]).toEqual([90_000, 1_500_000]);
  });

  test.each(["1 fortnight", "s", "", "-5s", "11m"])("%j is no drain time", async (drainMs) => {
    expect(await onlyIssue(JSON.stringify({ gateway: { shutdown: { drainMs } } }))).toMatchObject({ path: "gateway.shutdown.drainMs" });
  });
});
