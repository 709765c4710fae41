import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import JSON5 from "json5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../servers/needs.ts";
import { root } from "./_cli.ts";

const run = promisify(execFile);
const script = (shell: string) => join(root, "bin/completion", `svc.${shell}`);
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-completion-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** Words that one shell offers behind a command line that ends at the cursor. */
type Offer = (line: string) => Promise<string[]>;

const bash: Offer = async (line) => {
  const words = line.split(" ");
  const code = `source ${script("bash")}; COMP_WORDS=(${words.map((w) => `'${w}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf((await run("bash", ["--norc", "-c", code])).stdout);
};

/** The real widgets need a terminal; these print what they are given. */
const zshStubs = `_describe() { print -rl -- \${\${(P)@[-1]}%%:*}; }; compadd() { print -rl -- \${(P)@[-1]}; }; _files() { print -r -- FILES; }`;
const zsh: Offer = async (line) => {
  const words = line.split(" ");
  const code = `${zshStubs}; source ${script("zsh")}; words=(${words.map((w) => `'${w}'`).join(" ")}); CURRENT=${words.length}; _svc`;
  const { stdout } = await run("zsh", ["-f", "-c", code]);
  return linesOf(stdout).filter((word) => word.startsWith(words.at(-1) ?? ""));
};

const fish: Offer = async (line) => {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
  const { stdout } = await run("fish", ["--no-config", "-c", `source ${script("fish")}; complete -C '${line}'`], { env });
  return linesOf(stdout).map((row) => row.split("\t")[0] ?? "");
};

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");

const shells = [
  ["bash", bash],
  ["zsh", zsh],
  ["fish", fish],
] as const;

describe.each(shells)("%s", (shell, offer) => {
  needs(shell).test("offers commands, the words after them, flags and their values", async () => {
    expect(await offer("svc ga")).toEqual(["gateway"]);
    expect((await offer("svc config ")).toSorted()).toEqual(["file", "get", "patch", "schema", "set", "types", "unset", "validate"]);
    expect(await offer("svc --profile status config se")).toEqual(["set"]);
    expect(await offer("svc gateway --js")).toEqual([]);
    expect(await offer("svc health --ver")).toContain("--verbose");
    expect(await offer("svc health --pro")).toContain("--profile");
    expect((await offer("svc gateway --bind ")).toSorted()).toEqual(["auto", "custom", "lan", "loopback", "tailnet"]);
    expect(await offer("svc --log-level de")).toEqual(["debug"]);
    expect((await offer("svc completion ")).toSorted()).toEqual(["bash", "fish", "zsh"]);
  });
});

describe("svc completion", () => {
  const svc = (...args: string[]) =>
    run(process.execPath, [join(root, "bin/svc.mjs"), ...args], { env: { HOME: home, PATH: process.env.PATH ?? "" } }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    );

  test.each(shells.map(([shell]) => shell))("%s prints the script, whatever state config and plugins are in", async (shell) => {
    await mkdir(join(home, ".svc/plugins"), { recursive: true });
    for (const file of ["svc.json", "plugins/index.json"]) await writeFile(join(home, ".svc", file), "{ broken");
    await chmod(join(home, ".svc"), 0o000);
    const printed = await svc("completion", shell);
    await chmod(join(home, ".svc"), 0o700);
    expect(printed).toEqual({ code: 0, stdout: readFileSync(script(shell), "utf8"), stderr: "" });
  });

  test("of another shell says which there are", async () => {
    const { code, stderr } = await svc("completion", "tcsh");
    expect(code).toBe(2);
    expect(stderr).toContain('completion: expected one of bash, zsh, fish, got "tcsh"');
  });

  test("knows every command of the bundled plugins", () => {
    const text = readFileSync(script("fish"), "utf8");
    const manifests = readdirSync(join(root, "plugins")).map((id) => readFileSync(join(root, "plugins", id, "svc.plugin.json"), "utf8"));
    const names = manifests.flatMap((manifest) =>
      ((JSON5.parse(manifest) as { cli?: Array<{ name: string }> }).cli ?? []).map(({ name }) => name),
    );
    expect(names.length).toBeGreaterThan(50);
    expect(
      names.filter((name) => !text.includes(`"${name.split(" ").slice(0, -1).join(" ")}"' -f -a '${name.split(" ").at(-1)}'`)),
    ).toEqual([]);
  });
});

describe("the manual page", () => {
  needs("man", "groff").test("prints without a warning, and names every command", async () => {
    const page = join(root, "bin/man/svc.1");
    const { stdout, stderr } = await run("man", ["--warnings", "-E", "UTF-8", "-l", page], {
      env: { ...process.env, MANWIDTH: "120", LC_ALL: "C.UTF-8" },
    });
    expect(stderr).toBe("");
    for (const part of ["svc gateway", "svc config set path", "--require-rpc", "SVC_STATE_DIR", "EXIT STATUS"])
      expect(stdout).toContain(part);
  });
});
