import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { askExec, executableProblem } from "./exec-provider.ts";
import type { ExecProvider, SecretQuestion } from "./provider.ts";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "svc-exec-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** An executable of this test with this program; it is run by this Node. */
async function program(body: string, mode = 0o700): Promise<string> {
  const path = join(dir, "ask");
  await writeFile(path, `#!${process.execPath}\n${body}\n`, { mode });
  await chmod(path, mode);
  return path;
}

const reads = 'let input = ""; process.stdin.on("data", (d) => (input += d)).on("end", () => { const asked = JSON.parse(input); ';
const answers = (values: string, rest = "") =>
  `${reads} console.log(JSON.stringify({ protocolVersion: 1, values: ${values} ${rest} })); });`;

async function ask(command: string, own: Partial<ExecProvider> = {}, question: Partial<SecretQuestion> = {}) {
  const provider: ExecProvider = {
    ...{ source: "exec", command, args: [], passEnv: [], env: {}, timeoutMs: 10_000, maxOutputBytes: 100_000, jsonOnly: true },
    ...own,
  };
  return Object.fromEntries(await askExec(provider, { alias: "vault", ids: ["a/key", "b"], env: {}, configDir: dir, ...question }));
}
/** The one reason that all ids got, without the path. */
const reasonOf = (answer: Awaited<ReturnType<typeof ask>>) => {
  const reasons = new Set(Object.values(answer).map((a) => ("reason" in a ? a.reason : "a value")));
  expect(reasons.size).toBe(1);
  return [...reasons][0]?.replace(`executable ${join(dir, "ask")}: `, "");
};

describe("an executable", () => {
  test("is asked once for all ids, by JSON on its standard input, and answers by JSON", async () => {
    const log = join(dir, "log");
    const path = await program(
      `require("fs").appendFileSync(${JSON.stringify(log)}, "called\\n"); ${answers("{ 'a/key': 'one', b: JSON.stringify(asked) }")}`,
    );
    expect(await ask(path)).toEqual({
      "a/key": { value: "one" },
      b: { value: '{"protocolVersion":1,"provider":"vault","ids":["a/key","b"]}' },
    });
    expect(await readFile(log, "utf8")).toBe("called\n");
  });

  test("gets its arguments as they are: no shell looks at them", async () => {
    const path = await program(answers("{ 'a/key': process.argv.slice(2).join('|'), b: 'x' }"));
    expect(await ask(path, { args: ["$(id)", "a;b", "*"] })).toMatchObject({ "a/key": { value: "$(id)|a;b|*" } });
  });

  test("gets the named variables and its own, and no others", async () => {
    const path = await program(answers("{ 'a/key': JSON.stringify(process.env), b: 'x' }"));
    const asked = await ask(
      path,
      { passEnv: ["PASSED", "ABSENT"], env: { OWN: "2" } },
      { env: { PASSED: "1", HIDDEN: "3", PATH: "/bin" } },
    );
    const { value } = asked["a/key"] as { value: string };
    const { __CF_USER_TEXT_ENCODING: _, ...env } = JSON.parse(value);
    expect(env).toEqual({ PASSED: "1", OWN: "2" });
  });

  test("may refuse single ids; only a plain code of it is passed on", async () => {
    const path = await program(answers("{ b: 'x' }", ", errors: { 'a/key': { code: 'NOT_FOUND', message: 'the-secret' } }"));
    expect(await ask(path)).toEqual({ "a/key": { reason: `executable ${path}: refused this id (NOT_FOUND)` }, b: { value: "x" } });
    const chatty = await program(answers("{ b: 'x' }", ", errors: { 'a/key': { code: 'the secret is xyz' } }"));
    expect(await ask(chatty)).toMatchObject({ "a/key": { reason: expect.stringMatching(/refused this id \(no code\)$/) } });
  });

  test.each([
    ["leaves an id out", "{ b: 'x' }", "gave no value for this id"],
    ["answers with a number", "{ 'a/key': 5, b: 'x' }", "the value is not a text"],
    ["answers with an empty text", "{ 'a/key': '', b: 'x' }", "the value is empty"],
    ["answers with what every object has", "{ b: 'x' }", "gave no value for this id"],
  ])("that %s fails for that id", async (_, values, reason) => {
    const path = await program(answers(values));
    expect(await ask(path)).toEqual({ "a/key": { reason: `executable ${path}: ${reason}` }, b: { value: "x" } });
  });

  test("is not asked for names every object has", async () => {
    const path = await program(answers("{}"));
    expect(reasonOf(await ask(path, {}, { ids: ["constructor"] }))).toBe("gave no value for this id");
  });

  test.each([
    ["fails", "console.error('the-secret'); process.exit(3);", "ended with code 3"],
    ["is killed", "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e6);", "was ended by SIGTERM"],
    ["answers with text", "console.log('the-secret');", "its answer is not JSON"],
    ["answers with another protocol", 'console.log(\'{"protocolVersion":2,"values":{}}\');', "its answer is not of protocolVersion 1"],
    ["answers with null", "console.log('null');", "its answer is not of protocolVersion 1"],
    ["answers with nothing", "", "its answer is not JSON"],
  ])("that %s is told so, without a word of its own", async (_, body, reason) => {
    expect(reasonOf(await ask(await program(body)))).toBe(reason);
  });

  test("may answer with the bare value when that is allowed and one id is asked", async () => {
    const path = await program("console.log('bare value');");
    expect(await ask(path, { jsonOnly: false }, { ids: ["one"] })).toEqual({ one: { value: "bare value" } });
    expect(reasonOf(await ask(path, { jsonOnly: false }))).toBe("its answer is not JSON");
    expect(reasonOf(await ask(path, { jsonOnly: true }, { ids: ["one"] }))).toBe("its answer is not JSON");
  });

  test.each(["12345678", "true", "null", '"quoted"', "[1]", "0012"])("may have a bare value that is JSON by itself: %s", async (value) => {
    const path = await program(`console.log(${JSON.stringify(value)});`);
    expect(await ask(path, { jsonOnly: false }, { ids: ["one"] })).toEqual({ one: { value } });
    expect(reasonOf(await ask(path, { jsonOnly: false }))).toMatch(/^its answer is not /);
  });

  test("may still answer by JSON where a bare value is allowed", async () => {
    const path = await program(answers("{ one: 'v' }"));
    expect(await ask(path, { jsonOnly: false }, { ids: ["one"] })).toEqual({ one: { value: "v" } });
  });

  test.each<[string, Partial<ExecProvider>]>([
    ["an argument with NUL in it", { args: ["a\0b"] }],
    ["a variable with NUL in it", { env: { A: "a\0b" } }],
    ["an argument that is too long", { args: ["a".repeat(2_500_000)] }],
  ])("that cannot be started for %s fails for its ids, and nothing is thrown", async (_, own) => {
    expect(reasonOf(await ask(await program(answers("{}")), own))).toMatch(/^could not be started \((E2BIG|ERR_INVALID_ARG_VALUE)\)$/);
  });

  test("that answers too much is ended; at the limit it is heard", async () => {
    const path = await program("process.stdout.write('x'.repeat(Number(process.argv[2])));");
    const limits = { jsonOnly: false, maxOutputBytes: 1000 };
    expect(await ask(path, { ...limits, args: ["1000"] }, { ids: ["one"] })).toEqual({ one: { value: "x".repeat(1000) } });
    expect(reasonOf(await ask(path, { ...limits, args: ["1001"] }, { ids: ["one"] }))).toBe("wrote more than 1000 bytes");
  });

  test("that never ends is ended with everything it started", async () => {
    const pidFile = join(dir, "pid");
    const path = await program(
      `const { spawn } = require("child_process"); const c = spawn(process.execPath, ["-e", "setInterval(()=>{},1e6)"], { stdio: "inherit" });
       require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(c.pid)); setInterval(() => {}, 1e6);`,
    );
    expect(reasonOf(await ask(path, { timeoutMs: 1_000 }))).toBe("gave no answer within 1000 ms");
    const pid = Number(await readFile(pidFile, "utf8"));
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
  });

  test("is ended when nobody waits any more, whether it runs already or is about to", async () => {
    const pidFile = join(dir, "pid");
    const path = await program(`require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6);`);
    const running = new AbortController();
    const asked = ask(path, {}, { signal: running.signal });
    const pid = await eventually(async () => Number(await readFile(pidFile, "utf8")) || undefined);
    running.abort();
    expect(reasonOf(await asked)).toBe("was stopped");
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow());

    const starting = new AbortController();
    const askedAgain = ask(path, {}, { signal: starting.signal });
    starting.abort();
    expect(reasonOf(await askedAgain)).toBe("was stopped");
  });

  test("that reads nothing of a long question still answers", async () => {
    const path = await program("process.stdin.destroy(); console.log('v');");
    expect(await ask(path, { jsonOnly: false }, { ids: ["x".repeat(250)] })).toEqual({ ["x".repeat(250)]: { value: "v" } });
  });
});

describe("a file is not run", () => {
  const problem = (command: string, trustedDirs?: string[]) => executableProblem({ command, trustedDirs });

  test("that is all right is run", async () => {
    expect(await problem(await program(""))).toBeUndefined();
    expect(await problem(await program("", 0o755))).toBeUndefined();
  });

  test("by a relative path", async () => {
    expect(await problem("ask")).toBe("expected an absolute path");
  });

  test("that does not exist", async () => {
    expect(await problem(join(dir, "nothing"))).toBe("does not exist");
  });

  test("that is a link, also to a good one", async () => {
    await symlink(await program(""), join(dir, "link"));
    expect(await problem(join(dir, "link"))).toContain("is a symbolic link");
  });

  test("that is a folder", async () => {
    await mkdir(join(dir, "folder"));
    expect(await problem(join(dir, "folder"))).toBe("is not a regular file");
  });

  test.each([0o720, 0o702, 0o777])("that others may write: mode %o", async (mode) => {
    expect(await problem(await program("", mode))).toContain("can be written by others");
  });

  test("that may not be executed", async () => {
    expect(await problem(await program("", 0o600))).toBe("is not executable");
  });

  test("in a folder where others could replace it, unless that folder is sticky", async () => {
    const path = await program("");
    await chmod(dir, 0o777);
    expect(await problem(path)).toBe("lies in a folder that others can write");
    await chmod(dir, 0o1777);
    expect(await problem(path)).toBeUndefined();
  });

  test("outside of the trusted folders, by where links lead", async () => {
    const path = await program("");
    await mkdir(join(dir, "other"));
    await symlink(dir, join(dir, "other", "way"));
    expect(await problem(path, [dir])).toBeUndefined();
    expect(await problem(path, [join(dir, "other")])).toBe("lies outside of trustedDirs");
    expect(await problem(join(dir, "other", "way", "ask"), [join(dir, "other")])).toBe("lies outside of trustedDirs");
    expect(await problem(path, [join(dir, "a"), join(dir, "other", "way")])).toBeUndefined();
    expect(await problem(path, [])).toBe("lies outside of trustedDirs");
    expect(await problem(path, [dir.slice(0, -1)])).toBe("lies outside of trustedDirs");
  });
});
