import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestGateway, eventually, fakeModel } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Ended, svc as run } from "../../../test/tools/svc.ts";

const program = join(import.meta.dirname, "../../../bin/svc.mjs");
const TOKEN = "hook-token-of-this-test-0123456789";
const hooks = {
  enabled: true,
  token: TOKEN,
  presets: ["gmail"],
  mappings: [
    {
      id: "code",
      match: { path: "github" },
      name: "GitHub",
      messageTemplate: "{{headers.x-github-event}} by {{pusher}} at {{query.team}}",
      verify: { provider: "github", secret: "secret-of-github-1" },
    },
    { id: "shout", match: { path: "shout" }, transform: { module: "shout.ts" } },
    { id: "gone", match: { path: "gone" }, transform: { module: "gone.ts" } },
    { id: "quiet", match: { path: "quiet" }, action: "wake", transform: { module: "quiet.ts" } },
  ],
};
let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "svc-hooks-cli-"));
  config(hooks);
  put(
    "hooks/transforms/shout.ts",
    "export default (ctx: { payload: { a: string } }) => {\n  return { message: ctx.payload.a.toUpperCase() };\n};\n",
  );
  put("hooks/transforms/quiet.ts", "export default () => null;\n");
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

function config(own: object): void {
  put(
    "svc.json",
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "a-token-for-this-test" } },
      agents: { list: [{ id: "main" }] },
      hooks: own,
    }),
  );
}

function put(path: string, content: string): string {
  const file = join(stateDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const svc = (args: string[]) => run(args, { env: environment(), cwd: stateDir });
/** Runs `hooks test` with this body. */
const tryBody = (name: string, body: string, more: string[] = []) =>
  svc(["hooks", "test", name, "--payload", put("body.json", body), ...more]);

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: stateDir, SVC_STATE_DIR: stateDir, NO_COLOR: "1" };
}

const json = (ended: Ended) => JSON.parse(ended.stdout);

describe("with no gateway", () => {
  test("hooks list shows what the config says, the presets and what is broken, and no secret", async () => {
    const listed = await svc(["hooks", "list"]);

    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining("Gateway not reachable — showing config only.") });
    expect(listed.stdout).toMatch(/code +github +agent +token and signature \(github\) +– +config\n/);
    expect(listed.stdout).toMatch(/gone +gone +agent +token +gone\.ts +config, broken: .*not there/);
    expect(listed.stdout).toMatch(/gmail +gmail +agent +token +– +preset gmail\n/);
    expect(listed.stderr).not.toContain("secret");
    for (const hidden of [TOKEN, "secret-of-github-1"]) expect(listed.stdout + listed.stderr).not.toContain(hidden);
    const { problems, ...told } = json(await svc(["hooks", "list", "--json"]));
    expect(told).toMatchObject({ ok: true, source: "config", enabled: true, path: "/hooks", presets: [{ id: "gmail", isKnown: true }] });
    expect(problems).toEqual([expect.stringContaining("gone.ts")]);
  });

  test("while hooks are off it says how to switch them on", async () => {
    config({});
    expect((await svc(["hooks", "list"])).stdout).toBe(
      "Hooks are off. To switch them on:\n  svc hooks token --rotate\n  svc config set hooks.enabled true\n",
    );
  });

  test("hooks test shows the action with every template filled in; nothing is left behind", async () => {
    const payload = put("push.json", '{"pusher":"ann"}');
    const args = [
      "hooks",
      "test",
      "github?team=red",
      "--payload",
      payload,
      "--header",
      "X-GitHub-Event=push",
      "--header",
      "X-Hub-Signature-256: hidden",
    ];

    const tried = await svc(args);

    expect(tried).toMatchObject({ code: 0, stderr: "" });
    expect(tried.stdout).toMatch(/^github {2}mapping code {2}opened by token and signature \(github\)\n/);
    expect(tried.stdout).toContain("push by ann at red\n<<<END_EXTERNAL_UNTRUSTED_CONTENT");
    expect(json(await svc([...args, "--json"]))).toMatchObject({
      ok: true,
      path: "github",
      outcome: "actions",
      mapping: "code",
      items: [{ action: { kind: "agent", agentId: "main", name: "GitHub", sessionMode: "isolated" } }],
    });
  });

  test("a mistake of a transform is shown with file, line and column, its own output beside it, and exits with 1", async () => {
    const tried = await tryBody("shout", '{"b":1}');
    expect(tried).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Refused with 500: hook mapping failed\nshout\.ts: .*\(shout\.ts:2:\d+\)/),
    });
    const well = await tryBody("shout", '{"a":"loud"}', ["--json"]);
    expect(json(well).items[0].action.message).toContain("\nLOUD\n");
  });

  test("a list comes to one action each, nothing to do is no failure, a path of nobody is one", async () => {
    const mails = JSON.stringify({
      messages: [
        { id: "1", subject: "One" },
        { id: "2", subject: "Two" },
      ],
    });
    expect(json(await tryBody("gmail", mails, ["--json"])).items).toMatchObject([
      { action: { sessionKey: "agent:main:hook:gmail:1" } },
      { action: { sessionKey: "agent:main:hook:gmail:2" } },
    ]);
    expect(await tryBody("quiet", "")).toMatchObject({ code: 0, stdout: expect.stringContaining("204") });
    expect(await tryBody("nobody", "")).toMatchObject({ code: 1, stdout: expect.stringContaining("404") });
    expect(await tryBody("github", "", ["--header", "x-github-event=ping"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("question of the sender's scheme"),
    });
  });

  test("a payload that is missing, not there or no JSON is a usage error", async () => {
    expect((await svc(["hooks", "test", "agent"])).code).toBe(2);
    expect((await svc(["hooks", "test", "agent", "--payload", join(stateDir, "not-there.json")])).code).toBe(2);
    expect(await tryBody("agent", "{")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected JSON"),
    });
    expect((await tryBody("agent", "", ["--header", "no-value"])).code).toBe(2);
  });

  test("the program reads a payload from a pipe, and exits with 2 when it is no JSON", async () => {
    const args = [program, "hooks", "test", "gmail", "--payload", "-", "--json"];
    const piped = (input: string) =>
      new Promise<{ code: unknown; stdout: string }>((resolve) => {
        const child = execFile(process.execPath, args, { env: environment(), timeout: 50_000 }, (error, stdout) =>
          resolve({ code: error ? error.code : 0, stdout }),
        );
        child.stdin?.end(input);
      });
    const { code, stdout } = await piped('{"messages":[{"id":"1","subject":"One"}]}');
    expect([code, JSON.parse(stdout).items]).toMatchObject([0, [{ action: { sessionKey: "agent:main:hook:gmail:1" } }]]);
    expect((await piped("{")).code).toBe(2);
  }, 120_000);

  test("hooks token makes a first one, replaces it, and never prints it where no person reads it", async () => {
    config({});
    expect(await svc(["hooks", "token"])).toMatchObject({ code: 1, stdout: "There is no token.\n" });
    const made = await svc(["hooks", "token", "--rotate"]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining("Every sender needs the new one") });
    const token = () => JSON.parse(readFileSync(join(stateDir, "svc.json"), "utf8")).hooks.token as string;
    const first = token();
    expect(first).toMatch(/^[\w-]{43}$/);
    const again = await svc(["hooks", "token", "--rotate", "--json"]);
    expect(json(again)).toEqual({ ok: true, source: "config", rotated: true });
    expect(token()).not.toBe(first);
    const shown = await svc(["hooks", "token", "--show"]);
    expect(shown.code).toBe(1);
    for (const { stdout, stderr } of [made, again, shown])
      for (const hidden of [first, token()]) expect(stdout + stderr).not.toContain(hidden);
  });

  test("a token that comes from a variable is replaced there, not here", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a config file
    const token = "${HOOK_TOKEN}";
    config({ token });
    const refused = await svc(["hooks", "token", "--rotate"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("environment variable") });
    expect(JSON.parse(readFileSync(join(stateDir, "svc.json"), "utf8")).hooks.token).toBe(token);
  });

  test("deliveries need a gateway", async () => {
    for (const args of [
      ["list", "--deliveries"],
      ["show", "u"],
      ["retry", "u"],
      ["drop", "u"],
    ]) {
      expect(await svc(["hooks", ...args])).toMatchObject({ code: 1, stderr: expect.stringContaining("gateway not reachable") });
    }
  });
});

test("with a gateway: deliveries with their states, one with its text, retry, drop, and a new token that opens at once", async () => {
  const gateway = await createTestGateway({
    stateDir,
    plugins: ["store", "agents", "webhooks"],
    config: { hooks: { enabled: true, token: TOKEN } },
    models: [fakeModel(["Looked at it.", "And again."])],
  });
  const post = (token: string) =>
    fetch(`${gateway.url}/hooks/agent`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ message: "the build is red", name: "Build", deliver: false, wakeMode: "next-heartbeat" }),
    });
  const stateOf = async (uid: string) => (await gateway.service("store@2").deliveries.get(uid))?.state;
  try {
    const { runId } = (await (await post(TOKEN)).json()) as { runId: string };
    await eventually(async () => (await stateOf(runId)) === "done");
    await store("failed-1");
    await store("waits-1");

    const listed = await svc(["hooks", "list", "--deliveries"]);
    expect(listed.stdout).toMatch(/Deliveries: 1 waiting, 0 running, 1 failed, 0 expired/);
    expect(listed.stdout).toMatch(new RegExp(`done +agent \\(Build\\) +main +1 +${runId}`));
    const failed = json(await svc(["hooks", "list", "--state", "failed", "--limit", "5", "--json"]));
    expect(failed).toMatchObject({ source: "gateway", deliveries: [{ uid: "failed-1", state: "failed" }] });

    const shown = await svc(["hooks", "show", "failed-1"]);
    expect(shown.stdout).toMatch(/failed-1\n {2}State +failed, 0 tries\n {2}Why +the model is gone\n/);
    expect(shown.stdout).not.toContain("the text of failed-1");
    expect((await svc(["hooks", "show", "failed-1", "--payload"])).stdout).toMatch(/\n\nthe text of failed-1\n$/);
    expect(await svc(["hooks", "show", "nobody"])).toMatchObject({ code: 1, stderr: expect.stringContaining('no delivery "nobody"') });

    expect((await svc(["hooks", "retry", "failed-1"])).stdout).toContain("failed-1 is in the queue again");
    await eventually(async () => (await stateOf("failed-1")) === "done");
    expect(await svc(["hooks", "retry", "failed-1"])).toMatchObject({ code: 1, stderr: expect.stringContaining("failed-1") });
    expect(json(await svc(["hooks", "drop", "waits-1", "--json"]))).toEqual({ ok: true, uid: "waits-1" });
    expect(await stateOf("waits-1")).toBe("failed");

    const before = (await gateway.service("store@2").deliveries.list({ dirs: ["hook-agent", "hook-wake"], limit: 100 })).length;
    const tried = json(await tryBody("agent", '{"message":"hello","model":"none/such"}', ["--json"]));
    expect(tried).toMatchObject({ ok: false, items: [{ refusal: { status: 400, message: "model not allowed: none/such" } }] });
    expect(await gateway.service("store@2").deliveries.list({ dirs: ["hook-agent", "hook-wake"], limit: 100 })).toHaveLength(before);

    expect((await svc(["hooks", "token", "--rotate"])).code).toBe(0);
    const token = JSON.parse(readFileSync(join(stateDir, "svc.json"), "utf8")).hooks.token as string;
    expect([token === TOKEN, (await post(TOKEN)).status, (await post(token)).status]).toEqual([false, 401, 200]);
  } finally {
    await gateway.close();
  }

  async function store(uid: string): Promise<void> {
    const at = Date.now();
    const action = {
      ...{ kind: "agent", path: "agent", agentId: "main", isFallbackAgent: false, message: `the text of ${uid}`, name: uid },
      ...{ sessionKey: `agent:main:hook:${uid}`, sessionMode: "isolated", wakeMode: "next-heartbeat", deliver: false, channel: "last" },
    };
    const row = { uid, dir: "hook-agent" as const, lane: `agent:main:hook:${uid}`, expiresAt: at + 86_400_000, payload: { v: 1, action } };
    const result = { status: "error", reason: "the model is gone", about: { path: "agent", name: uid, agentId: "main" } };
    // One commit: nobody takes it up in between.
    await gateway
      .service("store@2")
      .commit([
        { op: "delivery.accept", delivery: row, at },
        uid === "failed-1"
          ? { op: "delivery.finish", uid, from: ["accepted"], state: "failed", result, at }
          : { op: "delivery.requeue", uid, from: ["accepted"], notBefore: at + 3_600_000, at },
      ]);
  }
}, 120_000);
