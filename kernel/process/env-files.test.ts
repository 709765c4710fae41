import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEnvFiles } from "./env-files.ts";
import { isCredentialName, isLoaderName, isWorkspaceName } from "./env-names.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-env-"));
  await mkdir(join(dir, "cwd"));
  await mkdir(join(dir, "state"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const write = (where: "cwd" | "state", text: string) => writeFile(join(dir, where, ".env"), text);
const read = (env: Record<string, string> = {}, cwd = "cwd") => readEnvFiles({ env, cwd: join(dir, cwd), stateDir: join(dir, "state") });

test("without files nothing is added and nothing is wrong", async () => {
  expect(await read()).toEqual({ added: {}, problems: [] });
  expect(await read({}, "cwd/gone")).toEqual({ added: {}, problems: [] });
});

test("a set variable wins over the working directory, which wins over the state directory", async () => {
  await write("cwd", "LANG_A=cwd\nLANG_B=cwd\n");
  await write("state", "LANG_A=state\nLANG_B=state\nLANG_C=state\nEMPTY_ONE=state\n");
  expect((await read({ LANG_A: "process", EMPTY_ONE: "" })).added).toEqual({ LANG_B: "cwd", LANG_C: "state" });
});

test("under a supervisor the variables of its service come first, and elsewhere they are not read", async () => {
  await mkdir(join(dir, "state/service"));
  await writeFile(join(dir, "state/service/gateway.env"), "LANG_A=service\nLANG_B=service\nPATH=/z\n");
  await write("cwd", "LANG_B=cwd\n");
  await write("state", "LANG_B=state\nLANG_C=state\n");
  expect((await read({ LANG_A: "process", SVC_SERVICE_MARKER: "ai.svc.gateway" })).added).toEqual({ LANG_B: "service", LANG_C: "state" });
  expect((await read()).added).toEqual({ LANG_B: "cwd", LANG_C: "state" });
});

test("the grammar is that of dotenv", async () => {
  await write("state", '\uFEFF# comment\nexport A=1\nB="two words" # why\nC=\'$A\'\nD="line\\nbreak"\n\nE=\nF = spaced \n');
  expect((await read()).added).toEqual({ A: "1", B: "two words", C: "$A", D: "line\nbreak", E: "", F: "spaced" });
});

test("the state directory may hold keys and settings of this program, but nothing that decides which code runs", async () => {
  await write("state", "SVC_GATEWAY_TOKEN=t\nACME_API_KEY=k\nHTTPS_PROXY=p\nNODE_OPTIONS=--x\nLD_PRELOAD=y\nPATH=/z\n");
  expect((await read()).added).toEqual({ SVC_GATEWAY_TOKEN: "t", ACME_API_KEY: "k", HTTPS_PROXY: "p" });
});

test("the working directory may hold neither", async () => {
  const names = [
    "SVC_GATEWAY_TOKEN",
    "svc_state_dir",
    "ACME_API_KEY",
    "GH_TOKEN",
    "HTTPS_PROXY",
    "ACME_BASE_URL",
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "HOME",
  ];
  await write("cwd", `${names.map((name) => `${name}=stolen`).join("\n")}\nMY_LABEL=mine\n`);
  expect((await read()).added).toEqual({ MY_LABEL: "mine" });
});

test("in the state directory itself the file is the operator's", async () => {
  await write("state", "ACME_API_KEY=k\n");
  expect((await read({}, "state")).added).toEqual({ ACME_API_KEY: "k" });
});

describe("a file that cannot be read is a problem to tell, not an error", () => {
  test("a folder", async () => {
    await mkdir(join(dir, "state", ".env"));
    expect(await read()).toEqual({ added: {}, problems: [`${join(dir, "state", ".env")}: is not a regular file`] });
  });

  test("a FIFO, which nobody waits for", async () => {
    await promisify(execFile)("mkfifo", [join(dir, "cwd", ".env")]);
    await write("state", "A=1");
    expect(await read()).toEqual({ added: { A: "1" }, problems: [`${join(dir, "cwd", ".env")}: is not a regular file`] });
  });

  test("one larger than 1 MiB; at the limit it is read", async () => {
    await write("state", "A=1\n".padEnd(1024 * 1024, "#"));
    expect((await read()).added).toEqual({ A: "1" });
    await write("state", "A=1\n".padEnd(1024 * 1024 + 1, "#"));
    expect(await read()).toEqual({ added: {}, problems: [`${join(dir, "state", ".env")}: is larger than 1048576 bytes`] });
  });
});

describe("a name speaks of", () => {
  test.each([
    "OPENAI_API_KEY",
    "GH_TOKEN",
    "DB_PASSWORD",
    "AWS_ACCESS_KEY_ID",
    "AWS_REGION",
    "MY_SECRET",
    "SSH_PRIVATE_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SVC_GATEWAY_TOKEN",
    "HF_TOKEN",
  ])("a credential: %s", (name) => {
    expect([isCredentialName(name), isWorkspaceName(name)]).toEqual([true, false]);
  });

  test.each([
    "NODE_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "PATH",
    "Path",
    "BASH_ENV",
    "GIT_SSH_COMMAND",
  ])("what code runs: %s", (name) => {
    expect([isLoaderName(name), isWorkspaceName(name)]).toEqual([true, false]);
  });

  test.each([
    "HOME",
    "SHELL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "HTTP_PROXY",
    "https_proxy",
    "NO_PROXY",
    "OPENAI_BASE_URL",
    "OLLAMA_HOST",
    "SSL_CERT_FILE",
    "SVC_ANYTHING",
  ])("places, traffic or this program: %s", (name) => {
    expect(isWorkspaceName(name)).toBe(false);
  });

  test.each(["LANG", "TZ", "NO_COLOR", "DEBUG", "MY_PROJECT", "MONKEY"])("nothing of that: %s", (name) => {
    expect([isCredentialName(name), isLoaderName(name), isWorkspaceName(name)]).toEqual([false, false, true]);
  });
});
