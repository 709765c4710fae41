import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
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
  let text = "";
  const stdout = { write: (part: string) => (text += part), isTTY };
  const interrupt = () => ({ signal: new AbortController().signal, exitCode: (code: number) => code, dispose: () => undefined });
  expect(await runCommandLine(argv, { env: { HOME: home, ...env }, stdout, stderr: { write: () => true }, interrupt })).toBe(0);
  return text;
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
