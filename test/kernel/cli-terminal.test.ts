import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { runCommandLine } from "../../kernel/cli/run.ts";

const HOOK_TOKEN = "hook-token-of-a-person-0123456789";
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-tty-"));
  await mkdir(join(home, ".svc"));
  await writeFile(
    join(home, ".svc", "svc.json"),
    JSON.stringify({ gateway: { mode: "local", auth: { token: "tok/en" } }, hooks: { token: HOOK_TOKEN } }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** `svc` as a person at a terminal, or a program behind a pipe, sees it. */
async function svc(isTTY: boolean, env: Record<string, string>, ...argv: string[]): Promise<string> {
  const { code, text } = await ended(isTTY, env, ...argv);
  expect(code).toBe(0);
  return text;
}

async function ended(
  isTTY: boolean,
  env: Record<string, string>,
  ...argv: string[]
): Promise<{ code: number; text: string; error: string }> {
  let text = "";
  let error = "";
  const stdout = { write: (part: string) => (text += part), isTTY };
  const interrupt = () => ({ signal: new AbortController().signal, exitCode: (code: number) => code, dispose: () => undefined });
  const stderr = { write: (part: string) => (error += part) };
  const code = await runCommandLine(argv, { env: { HOME: home, ...env }, stdout, stderr, interrupt });
  return { code, text, error };
}

it("a person at a terminal gets the address with the token in it, in colour", async () => {
  const text = await svc(true, {}, "gateway", "hints");
  expect(text).toContain("/#token=tok%2Fen");
  expect(text).toContain("\u001b[");
});

it("NO_COLOR and --no-color leave the words", async () => {
  expect(await svc(true, { NO_COLOR: "1" }, "gateway", "hints")).not.toContain("\u001b[");
  expect(await svc(true, {}, "--no-color", "gateway", "hints")).not.toContain("\u001b[");
});

it("behind a pipe the token stays out, and the way to it is named", async () => {
  const text = await svc(false, {}, "gateway", "hints");
  expect(text).not.toContain("tok");
  expect(text).toContain("dashboard");
});

it("a person at a terminal sees the hooks' token when it is asked for, and else not", async () => {
  expect(await svc(true, {}, "hooks", "token", "--show")).toContain(`\n${HOOK_TOKEN}\n`);
  expect(await svc(true, {}, "hooks", "token")).not.toContain(HOOK_TOKEN);
});

it("a person at a terminal sees the gateway's token when it is asked for, and else not", async () => {
  expect(await svc(true, {}, "gateway", "auth-token", "--show")).toBe(
    "The token comes from the config file (gateway.auth.token).\ntok/en\n",
  );
  expect(await svc(true, {}, "gateway", "auth-token")).not.toContain("tok/en");
  expect(await ended(false, {}, "gateway", "auth-token", "--show")).toMatchObject({
    code: 1,
    text: "",
    error: expect.stringContaining("to a terminal only"),
  });
});

it("the gateway's token is replaced by a random one in the config file; one that is kept elsewhere is not", async () => {
  const own = await mkdtemp(join(tmpdir(), "svc-token-"));
  onTestFinished(() => rm(own, { recursive: true, force: true }));
  const file = join(own, "svc.json");
  const config = (auth: object) => writeFile(file, JSON.stringify({ gateway: { mode: "local", auth } }));
  const run = (...argv: string[]) => ended(false, { SVC_STATE_DIR: own }, "gateway", "auth-token", ...argv);

  await config({ token: "an-old-token-0123456789" });
  expect(await run("--rotate", "--json")).toEqual({ code: 0, text: expect.stringContaining('"rotated": true'), error: "" });
  expect(await readFile(file, "utf8")).toMatch(/"token":\s*"[\w-]{43}"/);

  for (const [auth, reason] of [
    [{ token: { source: "env", id: "ELSEWHERE" } }, "taken from a secret provider"],
    [{ mode: "password", password: "a-password-0123456789" }, "gateway.auth.mode is password"],
  ] as const) {
    await config(auth);
    expect(await run("--rotate")).toMatchObject({ code: 1, error: expect.stringContaining(reason) });
  }
  await config({});
  expect(await run()).toMatchObject({ code: 1, error: expect.stringContaining("--rotate makes one") });
});
