import type { SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { bootstrapConfig } from "./bootstrap.ts";

const page = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { partsOf, needingYou } = await page("parts.js");
const { factsOf } = await page("approval-facts.js");
const { refusalOf } = await page("refusal.js");
const { exampleQuestions } = await page("examples.js");
const { age, browserName, day, list, plain, plural, span } = await page("format.js");

const model = { id: "recall", provider: "recall", available: true };
const healthy = {
  health: { ok: true, version: "1.2.3" },
  plugins: [{ id: "store", state: "enabled" }],
  models: [model],
  defaultModel: { provider: "acme", model: "m1" },
  memory: { files: 3, chunks: 9, custom: { searchMode: "fts-only" } },
};
const level = (parts: Array<{ id: string; level: string }>) => Object.fromEntries(parts.map((p) => [p.id, p.level]));

test("a healthy gateway needs nobody", () => {
  const parts = partsOf(healthy);

  expect(level(parts)).toEqual({ gateway: "ok", model: "ok", memory: "ok", plugins: "ok" });
  expect(needingYou(parts)).toEqual([]);
});

test("what is wrong comes first, with its reason and the command", () => {
  const parts = partsOf({
    ...healthy,
    health: { ok: false, problems: { store: "the disk is full" } },
    plugins: [
      { id: "store", state: "enabled" },
      { id: "weather", name: "Weather", state: "error", error: "setup did not finish within 30 s" },
    ],
  });

  expect(needingYou(parts).map((p: { id: string }) => p.id)).toEqual(["gateway", "plugin:weather"]);
  expect(parts[0]).toMatchObject({ level: "bad", reason: "store: the disk is full", command: "svc health" });
  expect(parts[1]).toMatchObject({ name: "Weather", reason: "setup did not finish within 30 s", command: "svc plugins list" });
});

test("a plugin that was switched off is not called failed", () => {
  const off = { id: "weather", state: "disabled", error: "plugins.entries.weather.enabled is not true" };

  expect(needingYou(partsOf({ ...healthy, plugins: [{ id: "store", state: "enabled" }, off] }))).toEqual([]);
});

test("a request for approval says who asks for what, where, and how long it stands", () => {
  const times = { createdAtMs: 0, expiresAtMs: 120_000 };
  const request = { command: "ls", cwd: "/srv", agentId: "main", allowedDecisions: ["allow-once", "allow-always", "deny"] };
  expect(factsOf({ approvalKind: "exec", id: "1", request, ...times }, 60_000)).toEqual({
    title: "Agent main asks to run a command",
    command: "ls",
    details: "in /srv",
    expires: "expires in 1 min",
    canAlways: true,
  });
  const asked = { title: "Send it?", description: "A mail", pluginId: "mail", severity: "critical" };
  expect(factsOf({ approvalKind: "plugin", id: "2", request: asked, ...times }, 120_000)).toEqual({
    title: "Plugin mail asks: Send it?",
    description: "A mail",
    details: "severity: critical",
    expires: "expired",
    canAlways: false,
  });
});

test("the embedded model is a note, a model without a key needs somebody", () => {
  expect(level(partsOf({ ...healthy, defaultModel: { provider: "recall", model: "recall" } })).model).toBe("info");
  const locked = { id: "m1", provider: "acme", available: false, unavailableReason: "missing-auth" };
  const parts = partsOf({ ...healthy, models: [model, locked] });
  expect(parts[0]).toMatchObject({ id: "model", level: "warn", reason: "its API key is missing" });
  expect(level(partsOf({ ...healthy, models: [] })).model).toBe("bad");
});

test("an empty memory says where notes go, a failing one how to look closer", () => {
  const empty = partsOf({ ...healthy, memory: { files: 0, chunks: 0, workspace: "/home/ana/notes" } });
  const failing = partsOf({ ...healthy, memory: { files: 3, chunks: 9, lastError: "the folder cannot be read" } });

  expect(empty.find((p: { id: string }) => p.id === "memory")).toMatchObject({
    level: "info",
    hint: expect.stringContaining("/home/ana/notes"),
  });
  expect(failing[0]).toMatchObject({ id: "memory", level: "warn", reason: "the folder cannot be read" });
});

test("what is not known yet has no part", () => {
  expect(partsOf({ health: undefined, plugins: undefined, models: undefined, defaultModel: undefined, memory: undefined })).toEqual([]);
});

const at = { origin: "https://ui.example.org", protocol: "https:", port: "", hostname: "ui.example.org" };
const refused = (code: string, more: object = {}) => ({ code: "INVALID_REQUEST", message: "no", details: { code }, ...more });

test("a missing secret is asked for without blame, a wrong one with the reason", () => {
  expect(refusalOf(refused("AUTH_TOKEN_MISSING"), at)).toMatchObject({ kind: "secret", field: "token", reason: "", isFailure: false });
  expect(refusalOf(refused("AUTH_TOKEN_MISMATCH"), at)).toMatchObject({ kind: "secret", field: "token", isFailure: true });
  expect(refusalOf(refused("AUTH_PASSWORD_MISMATCH"), at)).toMatchObject({ kind: "secret", field: "password", isFailure: true });
  expect(refusalOf(refused("AUTH_BOOTSTRAP_TOKEN_MISMATCH"), at)).toMatchObject({ kind: "secret", field: "secret", isFailure: true });
});

test("a locked address counts down what the gateway said", () => {
  expect(refusalOf(refused("AUTH_RATE_LIMITED", { retryAfterMs: 42_000 }), at)).toMatchObject({
    kind: "secret",
    field: "secret",
    retryAfterMs: 42_000,
  });
});

test("other refusals name the next step", () => {
  expect(refusalOf(refused("CONTROL_UI_ORIGIN_NOT_ALLOWED"), at).lines).toEqual([
    'gateway: { controlUi: { allowedOrigins: ["https://ui.example.org"] } }',
  ]);
  expect(refusalOf(refused("PROTOCOL_MISMATCH"), at).kind).toBe("version");
  expect(refusalOf({ code: "NOT_PAIRED", message: "no", details: { code: "PAIRING_REQUIRED", requestId: "r-1" } }, at)).toMatchObject({
    kind: "pairing",
    lines: ["svc devices approve r-1"],
  });
  expect(refusalOf(refused("AUTH_DEVICE_TOKEN_MISMATCH"), at)).toMatchObject({ kind: "secret", field: "secret", isFailure: false });
  expect(refusalOf(refused("DEVICE_IDENTITY_REQUIRED"), { ...at, port: "18789" }).lines[0]).toBe(
    "ssh -N -L 18789:127.0.0.1:18789 ui.example.org",
  );
  expect(
    refusalOf({ code: "connection-closed", message: "closed", details: { closeCode: 4001, reason: "gateway auth changed" } }, at).kind,
  ).toBe("secret");
  expect(refusalOf({ code: "INVALID_REQUEST", message: "something new" }, at)).toMatchObject({ kind: "other", text: "something new" });
});

test("example questions come from the notes that are there", () => {
  const files = ["MEMORY.md", "memory/2026-11-18.md", "memory/2026-11-02.md", "memory/home/network.md", "memory/people/ana-lima.md"];

  const questions = exampleQuestions(files.map((path) => ({ path, mtime: 0 })));

  expect(questions).toEqual([
    "What do my notes say about home network?",
    "What is important about ana lima?",
    "What happened on 2026-11-18?",
  ]);
});

test("without notes there are still three questions", () => {
  expect(exampleQuestions([])).toHaveLength(3);
  expect(exampleQuestions(undefined)).toHaveLength(3);
});

test("times and counts read as a person would say them", () => {
  const noon = new Date(2026, 10, 21, 12).getTime();
  expect(age(noon - 5_000, noon)).toBe("just now");
  expect(age(noon - 240_000, noon)).toBe("4 min ago");
  expect(age(noon - 3 * 3_600_000, noon)).toBe("3 h ago");
  expect(day(noon - 20 * 3_600_000, noon)).toBe("Yesterday");
  expect(span(59_999)).toBe("59 s");
  expect(span(90_000)).toBe("1 min");
  expect(plural(1, { one: "# part needs", other: "# parts need" })).toBe("1 part needs");
  expect(plural(1_902, { one: "# passage", other: "# passages" })).toBe("1,902 passages");
  expect(plural(0, { other: "# $& passages" })).toBe("0 $& passages");
  expect(list(["a", "b", "c"])).toBe("a, b, c");
});

test("lists show answers without their Markdown signs", () => {
  expect(plain("These are:\n\n> **Router**\n> - in the `hall`\n\nSource: memory/a.md#L1")).toBe("These are: Router in the hall");
  expect(plain("| Light | Means |\n|---|:---|\n| green | connected |")).toBe("Light Means green connected");
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "Firefox on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36", "Chrome on Windows"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Safari on Mac",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPhone",
  ],
  ["Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36", "Chrome on Android"],
  ["something/1.0", "Browser"],
])("the list of devices calls a browser by name: %s", (userAgent, name) => expect(browserName(userAgent)).toBe(name));

test("the bootstrap config names the agent, the mode in force and no secret", () => {
  const config = {
    ...parseSharedConfig({ agents: { list: [{ id: "helper", identity: { name: "Ida", emoji: "🦉" } }] } }),
    gateway: { auth: { token: "t0ken-value", password: "passw0rd-value" }, controlUi: { basePath: "/ui" } },
  } as unknown as SvcConfig;

  const facts = { stateDir: "/somewhere/secret", version: "1.2.3", authMode: "password", buildId: "abc" } as const;
  const body = bootstrapConfig(config, facts);

  expect(body).toEqual({
    basePath: "/ui",
    assistantName: "Ida",
    assistantAvatar: "🦉",
    assistantAgentId: "helper",
    serverVersion: "1.2.3",
    serverBuildId: "abc",
    authMode: "password",
    pluginTabs: [],
  });
});
