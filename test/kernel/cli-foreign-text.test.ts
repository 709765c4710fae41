import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";

/** Clears the screen, sets a title, hides what follows, turns text around, forges a row. */
const FOREIGN = "hi \u001b[2J\u001b]0;owned\u0007\u001b[8m \u0000 \u009b2J \u202eevil";
const controls = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({
    plugins: ["store", "agents", "operator"],
    models: [fakeModel(Array(5).fill(`You said ${FOREIGN}`))],
  });
  const client = await gateway.client();
  const params = { message: FOREIGN, sessionKey: "foreign", idempotencyKey: randomUUID() };
  await client.request("agent", params, { onAccepted: () => undefined });
});
afterAll(() => gateway?.close());

async function svc(isTTY: boolean, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCommandLine([...argv, "--url", gateway.wsUrl, "--token", gateway.token], {
    env: { HOME: gateway.stateDir, SVC_STATE_DIR: gateway.stateDir },
    cwd: gateway.stateDir,
    stdout: { write: (part: string) => (out += part), isTTY },
    stderr: { write: (part: string) => (err += part), isTTY },
    interrupt: () => ({ signal: new AbortController().signal, exitCode: (n: number) => n, dispose: () => undefined }),
  });
  return { code, out, err };
}

describe.each([
  ["into a pipe", false],
  ["on a terminal", true],
])("text from outside is shown, not obeyed, %s:", (_, isTTY) => {
  /** Without the colours of the program itself. */
  const plain = (text: string) => [1, 2, 22, 31, 32, 33, 36, 39].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ""), text);

  test.each([
    // The store puts U+FFFD in the place of U+0000 where a session is searched.
    ["sessions list", ["sessions", "list"], "\ufffd"],
    ["sessions show", ["sessions", "show", "foreign"], "\\u0000"],
  ])("%s", async (_name, argv, nul) => {
    const { code, out } = await svc(isTTY, ...argv);
    expect(code).toBe(0);
    expect(plain(out)).toContain("\\u001b[2J");
    expect(plain(out)).toContain(nul);
    expect(plain(out)).toContain("\\u202eevil");
    expect(plain(out)).not.toMatch(controls);
  });

  test("an answer that comes from a model", async () => {
    const { out } = await svc(isTTY, "agent", "--message", "again", "--session-key", "answers");
    expect(out).toContain("You said hi \\u001b[2J");
    expect(out).not.toMatch(controls);
  });

  test("an error that repeats what was typed", async () => {
    const { code, err } = await svc(isTTY, `none ${FOREIGN}`);
    expect(code).toBe(2);
    expect(plain(err)).toContain("none hi \\u001b[2J");
    expect(plain(err)).not.toMatch(controls);
  });
});

test("with --json the text arrives as it was sent", async () => {
  const { out } = await svc(false, "sessions", "show", "foreign", "--json");
  expect(JSON.parse(out).messages[0].content).toEqual([{ type: "text", text: FOREIGN }]);
});

test("an exported session keeps its text", async () => {
  const lines = (await svc(false, "sessions", "export", "foreign")).out.trim().split("\n");
  expect(JSON.parse(lines[1] as string).content).toEqual([{ type: "text", text: FOREIGN }]);
});

test("root help shows what an installed plugin says of its commands", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "svc-help-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  await mkdir(join(stateDir, "plugins"));
  const cli = [{ name: "evil\u001b[8m", description: FOREIGN }];
  await writeFile(join(stateDir, "plugins/index.json"), JSON.stringify({ plugins: { evil: { cli } } }));
  vi.stubEnv("SVC_STATE_DIR", stateDir);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { quickAnswer } = await import(new URL("../../bin/root-help.mjs", import.meta.url).href);
  const help: string = await quickAnswer(["--help"]);
  expect(help).toMatch(/^ {2}evil\\u001b\[8m\s+hi \\u001b\[2J/m);
  expect(help).not.toMatch(controls);
});
