import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommandLine } from "./run.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-cli-"));
  const demo = join(root, "plugins", "demo");
  await mkdir(join(demo, "cli"), { recursive: true });
  await mkdir(join(root, "plugins", "broken"));
  await writeFile(join(root, "plugins", "broken", "svc.plugin.json"), "{ nonsense");
  const cli = ["demo echo", "demo fail", "demo fault", "demo twice", "demo plain", "demo absent", "demo go on"].map((name) => ({
    name,
    description: `What ${name} does`,
    module: name === "demo absent" ? "cli/absent.mjs" : "cli/demo.mjs",
  }));
  cli.push({ name: "demo throws", description: "", module: "cli/throws.mjs" });
  await writeFile(join(demo, "svc.plugin.json"), `// with a comment\n${JSON.stringify({ id: "demo", cli })}`);
  await writeFile(join(demo, "cli/throws.mjs"), 'throw new Error("no such luck");');
  await writeFile(join(demo, "cli/absent.mjs"), "export default [];");
  await writeFile(
    join(demo, "cli/demo.mjs"),
    `class SvcError extends Error { name = "SvcError"; code = "failed"; fields = { hint: "try harder" }; spec = { exit: 1 }; }
     const json = { kind: "flag", description: "" };
     const command = (name, run, options = { json }) => ({ path: ["demo", name], summary: "Sum of " + name, options, run });
     export default [
       { ...command("echo", async (cli, values, positionals) => {
           if (cli.json) cli.stdout.json({ values, positionals, profile: cli.paths.profile, stateDir: cli.paths.stateDir });
           else cli.stdout.line(positionals.join("+"));
           return Number(values.code ?? 0);
         }, { json, code: { kind: "integer", description: "" } }), positionals: [{ name: "word", required: false, rest: true }] },
       command("fail", async () => { throw new SvcError("it did not work"); }),
       command("fault", async () => { throw new TypeError("a bug"); }),
       command("twice", async (cli) => { cli.stdout.json({ first: true }); throw new SvcError("too late"); }),
       command("plain", async () => 0, {}),
     ];`,
  );
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function svc(...argv: string[]) {
  const written = { stdout: "", stderr: "" };
  const code = await runCommandLine(argv, {
    env: { HOME: root },
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    interrupt: () => ({ signal: new AbortController().signal, exitCode: (c) => c, dispose: () => undefined }),
    pluginsRoot: join(root, "plugins"),
  });
  return { code, ...written };
}

describe("a command of a plugin", () => {
  it("runs with its arguments, and its number is the exit code", async () => {
    expect(await svc("demo", "echo", "a", "b")).toEqual({ code: 0, stdout: "a+b\n", stderr: "" });
    expect(await svc("demo", "echo", "--code", "1")).toMatchObject({ code: 1 });
  });

  it("gets --json and the profile from wherever they stand", async () => {
    const { stdout } = await svc("--profile", "work", "demo", "echo", "--json", "x");
    expect(JSON.parse(stdout)).toEqual({ values: { json: true }, positionals: ["x"], profile: "work", stateDir: join(root, ".svc-work") });
  });

  it("fails with one line and its hint on stderr, or with one JSON document on stdout", async () => {
    expect(await svc("demo", "fail")).toEqual({ code: 1, stdout: "", stderr: "svc: it did not work\n     try harder\n" });
    const { code, stdout, stderr } = await svc("demo", "fail", "--json");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      error: { type: "rpc", code: "failed", message: "it did not work", hint: "try harder" },
    });
  });

  it("shows a stack for a fault of the program only when asked for detail", async () => {
    const short = await svc("demo", "fault");
    expect(short).toMatchObject({ code: 1, stdout: "" });
    expect(short.stderr).toContain("svc: a bug");
    expect(short.stderr).not.toContain("    at ");
    expect((await svc("demo", "fault", "--log-level", "debug")).stderr).toContain("    at ");
  });

  it("leaves one document on stdout also when it fails after printing", async () => {
    const { code, stdout } = await svc("demo", "twice", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ first: true });
  });
});

describe("a usage error exits with 2 and says what was expected:", () => {
  it.each([
    [["demo"], "demo: expected one of echo, fail, fault, twice, plain, absent, go on, throws"],
    [["demo", "ehco"], 'unknown command "demo ehco"'],
    [["demo", "fail", "now"], 'unknown command "demo fail now"'],
    [["demo", "echo", "--cod", "1"], "demo echo: unknown flag --cod; did you mean --code?"],
    [["demo", "echo", "--code", "x"], '--code: expected an integer, got "x"'],
    [["--profile", "Bad!", "demo", "echo"], 'profile "Bad!"'],
    [["--profile", "gateway", "demo", "echo"], 'profile "gateway"'],
    [["--log-level", "loud", "demo", "echo"], "--log-level: expected one of"],
    [["gateway", "--port", "0"], '--port: expected an integer from 1 to 65535, got "0"'],
    [["gateway", "--bind", "0.0.0.0"], "--bind: expected one of loopback, lan, tailnet, auto, custom"],
    [["gateway", "--reset"], "gateway --reset: only with --dev"],
  ])("svc %j", async (argv, message) => {
    const human = await svc(...argv);
    expect(human.code).toBe(2);
    expect(human.stdout).toBe("");
    expect(human.stderr).toContain(message);
    const { code, stdout } = await svc(...argv, "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { type: "usage" } });
  });

  it("a command without --json says so instead of printing nothing", async () => {
    const { code, stdout } = await svc("demo", "plain", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { type: "usage", message: "demo plain: has no --json" } });
  });

  it("with the flag before the command that nobody knows", async () => {
    expect((await svc("--profil", "work", "demo", "echo")).stderr).toBe(
      "svc: unknown flag --profil before the command\n     did you mean: --profile\n",
    );
    expect((await svc("--code", "1", "demo", "echo")).stderr).toContain("flags of a command follow it");
  });

  it("with the nearest name for a mistyped one", async () => {
    expect((await svc("demo", "ehco")).stderr).toContain("did you mean: svc demo echo");
    expect((await svc("gatewy")).stderr).toContain("did you mean: svc gateway");
  });
});

describe("help", () => {
  it("of a command comes from its data", async () => {
    const { code, stdout } = await svc("demo", "echo", "--help");
    expect(code).toBe(0);
    expect(stdout).toContain("svc demo echo: Sum of echo");
    expect(stdout).toContain("Usage: svc demo echo [word...] [flags]");
    expect(await svc("help", "demo", "echo")).toEqual({ code, stdout, stderr: "" });
  });

  it("of a command below a group of two words is found by them", async () => {
    expect((await svc("demo", "go")).stderr).toBe("svc: demo go: expected one of on\n");
    expect((await svc("demo", "go", "--help")).stdout).toContain("demo go on  What demo go on does");
  });

  it("of a group lists its commands; of the gateway also the commands below it", async () => {
    expect((await svc("demo", "--help")).stdout).toContain("demo echo    What demo echo does");
    expect((await svc("gateway", "--help")).stdout).toContain("gateway run  Run the gateway in the foreground");
  });
});

describe("a module that does not keep its manifest's word", () => {
  it("by throwing is named with the reason", async () => {
    expect(await svc("demo", "throws")).toEqual({
      code: 1,
      stdout: "",
      stderr: "svc: demo throws: its module could not be loaded: no such luck\n",
    });
  });

  it("by exporting nothing is named too", async () => {
    expect((await svc("demo", "absent")).stderr).toMatch(/demo absent: .*absent\.mjs does not export a command of this name/);
  });
});
