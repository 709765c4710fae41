import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sign } from "@octokit/webhooks-methods";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, freshHome, gatewayIn, stopAll, token } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";

const HOOK_TOKEN = "hook-token-of-the-transforms-0123456789";

const hostile = {
  loops: "export default () => { for (;;); };",
  fills: "const kept = []; export default () => { for (;;) kept.push(new Array(1e5).fill({ a: Math.random() })); };",
  exits: "export default () => process.exit(0);",
  reads: 'import { readFileSync } from "node:fs";\nexport default () => ({ text: readFileSync("/etc/passwd", "utf8") });',
  spawns: 'import { execSync } from "node:child_process";\nexport default () => ({ text: execSync("id").toString() });',
  fetches: 'export default async () => ({ text: String((await fetch("http://127.0.0.1:9/")).status) });',
  signals: "export default () => process.kill(process.ppid);",
  parses: "export default () => ({\n  text: ;\n});",
  rejects: 'export default () => { Promise.reject(new Error("nobody")); return new Promise(() => {}); };',
  huge: 'export default () => ({ text: "x".repeat(2 * 1024 * 1024) });',
};
/** Reasons that the log gives the author. */
const reasons: Record<keyof typeof hostile, RegExp> = {
  loops: /loops\.ts did not finish within 5000 ms/,
  // Its memory ends, or its time on a busy machine.
  fills: /fills\.ts: .*(its process exited during the call|did not finish within 5000 ms)/,
  exits: /exits\.ts: .*its process exited during the call/,
  reads: /reads\.ts: .*\(reads\.ts:2:\d+\) \[ERR_ACCESS_DENIED\]/,
  spawns: /spawns\.ts: .*\(spawns\.ts:2:\d+\) \[ERR_ACCESS_DENIED\]/,
  fetches: /fetches\.ts: network access is switched off here/,
  signals: /signals\.ts: signals to other processes are switched off here/,
  parses: /parses\.ts: .*\(parses\.ts:2:\d+\)/,
  rejects: /rejects\.ts: .*its process exited during the call/,
  huge: /huge\.ts: its result is larger than 1048576 bytes/,
};

const github = `
import { type Issue, title } from "./lib/title.ts";
enum Action { Opened = "opened", Closed = "closed" }
export const onIssue = ({ payload, headers }: { payload: { action: string; issue: Issue }; headers: Record<string, string> }) =>
  payload.action === Action.Closed ? null : { text: \`\${headers["x-github-event"]}: \${title(payload.issue)}\` };
`;
const helper = (word: string) => `export interface Issue { number: number; title: string }
export const title = ({ number, title }: Issue): string => \`${"${"}number} ${word} ${"${"}title}\`;
`;

let home: Home;
let folder: string;
let gateway: Running;
const write = async (name: string, text: string) => {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
};

beforeAll(async () => {
  const mapping = (id: string, module: string) => ({
    id,
    match: { path: id },
    action: "wake",
    wakeMode: "next-heartbeat",
    transform: { module },
  });
  home = await configured(await freshHome(), {
    gateway: { mode: "local", auth: { token } },
    hooks: {
      enabled: true,
      token: HOOK_TOKEN,
      mappings: [
        {
          ...mapping("github", "github.ts"),
          transform: { module: "github.ts", export: "onIssue" },
          verify: { provider: "github", secret: "gh-secret", mode: "instead" },
        },
        ...Object.keys(hostile).map((id) => mapping(id, `${id}.ts`)),
        mapping("outside", "../outside.ts"),
        mapping("linked", "linked.ts"),
      ],
    },
  });
  folder = join(home.stateDir, "hooks", "transforms");
  await write("github.ts", github);
  await write("lib/title.ts", helper("first"));
  for (const [id, source] of Object.entries(hostile)) await write(`${id}.ts`, source);
  await write("../outside.ts", "export default () => null;");
  gateway = await gatewayIn(home);
});
afterAll(stopAll, 60_000);

async function issue(body: object): Promise<{ status: number; text: string }> {
  const text = JSON.stringify(body);
  const headers = { "x-hub-signature-256": await sign("gh-secret", text), "x-github-event": "issues", "x-github-delivery": "d-1" };
  const answer = await fetch(`${gateway.url}/hooks/github`, { method: "POST", headers, body: text });
  return { status: answer.status, text: await answer.text() };
}
async function post(path: string): Promise<{ status: number; text: string; retryAfter: string | null }> {
  const headers = { authorization: `Bearer ${HOOK_TOKEN}` };
  const answer = await fetch(`${gateway.url}/hooks/${path}`, { method: "POST", headers, body: "{}" });
  return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get("retry-after") };
}
const said = () => gateway.out.stdout + gateway.out.stderr;
/** Texts that wait for the agent. */
function events(): string {
  const db = new Database(join(home.stateDir, "state.sqlite"), { readonly: true });
  try {
    return JSON.stringify(db.prepare("SELECT body FROM system_events").pluck().all());
  } finally {
    db.close();
  }
}
const failed = { status: 500, text: '{"ok":false,"error":"hook mapping failed"}', retryAfter: null };
/** Five ends of one name within a minute would let it rest: each hostile transform is called once. */
const opened = { action: "opened", issue: { number: 7, title: "It breaks" } };

describe("a transform in TypeScript", () => {
  test("makes a text of a signed event, and nothing of one that it does not want", async () => {
    // The process may be cold, on a busy machine too cold for the limit: 503 asks the sender to come again.
    await eventually(async () => (await issue(opened)).status === 200);
    expect(events()).toContain("issues: 7 first It breaks");
    expect(await issue({ ...opened, action: "closed" })).toEqual({ status: 204, text: "" });
    expect((await post("github")).status).toBe(401);
  });

  test("is loaded anew when one of its helpers was edited, without a reload of anything else", async () => {
    await write("lib/title.ts", helper("edited"));
    await eventually(async () => {
      await issue(opened);
      return events().includes("issues: 7 edited It breaks");
    }, 30_000);
  });
});

describe("a hostile transform", () => {
  test.each(Object.keys(hostile) as Array<keyof typeof hostile>)(
    "that %s is contained: its sender reads nothing, its author reads why, and the gateway goes on meanwhile",
    async (id) => {
      await eventually(async () => (await issue({ ...opened, action: "closed" })).status === 204);
      let isAnswered = false;
      const answer = post(id).finally(() => {
        isAnswered = true;
      });
      const health: number[] = [];
      do {
        health.push((await fetch(`${gateway.url}/healthz`)).status);
        await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 50))]);
      } while (!isAnswered);
      expect(await answer).toEqual(failed);
      expect(new Set(health)).toEqual(new Set([200]));
      await eventually(() => reasons[id].test(said()));
      expect(gateway.child.exitCode).toBeNull();
    },
  );

  test("outside of the folder was refused when the config was read", async () => {
    const reason = `hook transform module path must be within ${folder}: ../outside.ts`;
    expect(await post("outside")).toEqual(failed);
    await eventually(() => said().includes(reason));
  });

  test("behind a link that leads out is refused, and those beside it go on", async () => {
    await symlink("/etc/passwd", join(folder, "linked.ts"));
    expect(await post("linked")).toEqual(failed);
    await eventually(() => said().includes(`hook transform module path must be within ${folder}: linked.ts`));
    expect((await issue({ ...opened, action: "closed" })).status).toBe(204);
    await rm(join(folder, "linked.ts"));
  });

  test("that ends its process five times within a minute rests, and says for how long", async () => {
    for (let i = 0; i < 4; i++) await eventually(async () => (await post("exits")).status === 500);
    const resting = await post("exits");
    expect(resting).toMatchObject({ status: 503, text: expect.stringContaining('"ok":false') });
    expect(Number(resting.retryAfter)).toBeGreaterThan(0);
    expect(Number(resting.retryAfter)).toBeLessThanOrEqual(60);
    expect((await issue({ ...opened, action: "closed" })).status).toBe(204);
  });
});
