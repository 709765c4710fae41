import { describe, expect, test } from "vitest";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { nearest, toConfigIssues } from "./issues.ts";
import type { Locate } from "./place.ts";
import { rootSchema } from "./root-schema.ts";

const nowhere: Locate = () => ({ line: 1, column: 1 });

function issuesOf(value: unknown, locate: Locate = nowhere) {
  const parsed = rootSchema.safeParse(value);
  return parsed.success ? [] : toConfigIssues(parsed.error, { file: "svc.json", value, schema: rootSchema, locate });
}

describe("the kind of an issue", () => {
  test.each([
    ["unknown_key", { gateway: { prot: 1 } }, "gateway.prot"],
    ["invalid_type", { gateway: { port: "1" } }, "gateway.port"],
    ["invalid_type", { agents: { defaults: { model: 5 } } }, "agents.defaults.model"],
    ["invalid_value", { gateway: { bind: "wan" } }, "gateway.bind"],
    ["invalid_value", { gateway: { customBindHost: "here" } }, "gateway.customBindHost"],
    ["too_small", { gateway: { port: 0 } }, "gateway.port"],
    ["too_big", { gateway: { port: 65_536 } }, "gateway.port"],
    ["too_small", { gateway: { auth: { token: "" } } }, "gateway.auth.token"],
    ["too_small", { gateway: { http: { maxBodyBytes: "1kb" } } }, "gateway.http.maxBodyBytes"],
    ["too_big", { gateway: { shutdown: { drainMs: "11m" } } }, "gateway.shutdown.drainMs"],
    ["too_big", { hooks: { mappings: Array(1_001).fill({}) } }, "hooks.mappings"],
    ["secret_ref", { gateway: { auth: { token: { source: "env", id: "lower" } } } }, "gateway.auth.token.id"],
    ["secret_ref", { gateway: { auth: { token: { source: "http", id: "x" } } } }, "gateway.auth.token.source"],
    ["secret_ref", { gateway: { auth: { token: { source: "env", id: "A", key: "x" } } } }, "gateway.auth.token.key"],
    ["secret_ref", { models: { providers: { a: { apiKey: { source: "file", id: "no-pointer" } } } } }, "models.providers.a.apiKey.id"],
    ["invalid_value", { models: { providers: { Acme: {} } } }, "models.providers.Acme"],
  ])("%s: $1", (code, value, path) => {
    expect(issuesOf(value)).toMatchObject([{ code, path }]);
  });

  test("is that of the alternative the author meant", () => {
    expect(issuesOf({ agents: { defaults: { model: { primary: "a/b", falbacks: [] } } } })).toMatchObject([
      { path: "agents.defaults.model.falbacks", code: "unknown_key", hint: 'did you mean "fallbacks"?' },
    ]);
    expect(issuesOf({ secrets: { providers: { a: { source: "fille", path: "x" } } } })).toMatchObject([
      { path: "secrets.providers.a.source", allowed: ["env", "file", "exec"], message: 'expected one of env, file, exec, got "fille"' },
    ]);
  });

  test("is told for every mistake at once, also for several inside one reference", () => {
    const issues = issuesOf({
      gateway: { port: 0, auth: { token: { source: "env", provider: "UP", id: "low" } } },
      hooks: { path: "x", tokn: "y" },
    });
    expect(issues.map((issue) => issue.path).sort()).toEqual([
      "gateway.auth.token.id",
      "gateway.auth.token.provider",
      "gateway.port",
      "hooks.path",
      "hooks.tokn",
    ]);
  });
});

test("of thousands of problems the first are worked out, and the number of the others is said", () => {
  let located = 0;
  const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n]));

  const issues = issuesOf({ gateway: keys }, () => {
    located++;
    return { line: located, column: 1 };
  });

  expect([issues.length, located]).toEqual([101, 100]);
  expect(issues.at(-1)).toMatchObject({ path: "", message: "4900 more problems are not listed; correct these first" });
});

describe("no value is echoed", () => {
  const canary = "canary-5550123";

  test.each([
    ["of a secret", { gateway: { auth: { token: [canary] } } }],
    ["inside a reference", { hooks: { token: { source: "env", id: canary } } }],
    ["of a reference's source", { hooks: { token: { source: canary, id: "A" } } }],
    ["where a section with secrets belongs", { hooks: canary }],
    ["where a provider belongs", { models: { providers: { acme: canary } } }],
    ["where a channel belongs", { channels: { irc: canary } }],
    ["where an account belongs", { channels: { irc: { accounts: { work: canary } } } }],
    ["where a plugin's own config belongs", { plugins: { entries: { a: { config: canary } } } }],
    ["of a plugin's environment", { plugins: { entries: { a: { env: { TOKEN: [canary] } } } } }],
    ["of a collector's header", { diagnostics: { otel: { headers: { Authorization: [canary] } } } }],
    ["of a signature's keys", { hooks: { mappings: [{ verify: { provider: "github", secrets: [[canary]] } }] } }],
  ])("%s", (_, value) => {
    const issues = issuesOf(value);
    expect(issues.length).toBeGreaterThan(0);
    expect(JSON.stringify(issues)).not.toContain("5550123");
  });

  test("but those of ordinary keys are", () => {
    expect(issuesOf({ gateway: { reload: { mode: "hybird" } } })).toMatchObject([{ got: "hybird" }]);
  });
});

describe("the place of an issue", () => {
  const inFiles: Locate = ([section]) =>
    section === "hooks" ? { line: 1, column: 3, file: "hooks.json5" } : { line: section === "logging" ? 9 : 4, column: 1 };
  const value = { hooks: { bogus: 1 }, logging: { level: "loud" }, gateway: { port: 0 } };

  test("names the included file it stands in", () => {
    const [, , last] = issuesOf(value, inFiles);
    expect(last).toMatchObject({ path: "hooks.bogus", file: "hooks.json5", line: 1, column: 3 });
    expect(formatIssue(last as NonNullable<typeof last>)).toMatch(/^hooks\.json5:1:3 {2}hooks\.bogus: unknown key "bogus"/);
  });

  test("decides the order: the main file from top to bottom, then the others", () => {
    expect(issuesOf(value, inFiles).map((issue) => issue.path)).toEqual(["gateway.port", "logging.level", "hooks.bogus"]);
  });
});

describe("the nearest known word", () => {
  test.each([
    ["prot", "port"],
    ["PORT", "port"],
    ["binding", undefined],
    ["bnd", "bind"],
    ["bindd", "bind"],
  ])("%s → %s", (word, expected) => {
    expect(nearest(word, ["port", "bind"])).toBe(expected);
  });
});
