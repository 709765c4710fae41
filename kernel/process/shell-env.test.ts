import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { readShellEnv } from "./shell-env.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-shell-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A real login shell with this profile. */
const login = (profile: string, env: Record<string, string> = {}, timeoutMs = 10_000) =>
  writeFile(join(dir, ".profile"), profile).then(() =>
    readShellEnv({ HOME: dir, SHELL: "/bin/sh", PATH: "/usr/bin:/bin", ...env }, timeoutMs),
  );

test("credentials that are missing come from the login shell, and nothing else", async () => {
  const profile =
    'echo "welcome ACME_API_KEY=no"; export ACME_API_KEY=from-shell GH_TOKEN="two\nlines" MY_LABEL=x EMPTY_TOKEN= NODE_OPTIONS=--x';
  expect(await login(profile)).toEqual({ added: { ACME_API_KEY: "from-shell", GH_TOKEN: "two\nlines" } });
});

test("a credential that is set stays, also an empty one", async () => {
  const { added } = await login("export ACME_API_KEY=from-shell GH_TOKEN=from-shell", { ACME_API_KEY: "mine", GH_TOKEN: "" });
  expect(added).toEqual({});
});

test("a shell that does not end is ended with what it started", async () => {
  const answer = await login(`sleep 1000 & echo $! > "${dir}/pid"; wait`, {}, 1_000);
  expect(answer).toEqual({ added: {}, problem: "login shell /bin/sh did not end within 1000 ms" });
  const pid = Number(await readFile(join(dir, "pid"), "utf8"));
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
});

test.each([
  ["that is not there", "/nowhere/sh", "could not be started (ENOENT)"],
  ["that is named by a relative path", "sh", "SHELL: expected an absolute path"],
])("a shell %s is told", async (_, shell, why) => {
  const { added, problem } = await login("", { SHELL: shell });
  expect(added).toEqual({});
  expect(problem).toContain(why);
});

test("a shell that fails is told, without what it wrote", async () => {
  const shell = join(dir, "sh");
  await writeFile(shell, "#!/bin/sh\necho the-secret; exit 7\n");
  await chmod(shell, 0o700);
  expect(await login("", { SHELL: shell })).toEqual({ added: {}, problem: `login shell ${shell} ended with code 7` });
});

test("one that prints no environment is told", async () => {
  const shell = join(dir, "sh");
  await writeFile(shell, "#!/bin/sh\necho hello\n");
  await chmod(shell, 0o700);
  expect(await login("", { SHELL: shell })).toEqual({ added: {}, problem: `login shell ${shell} printed no environment` });
});
