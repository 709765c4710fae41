import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandPath, missingOf, packagesOf } from "../servers/needs.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "svc-path-"));
  await writeFile(join(path, "here"), "#!/bin/sh\n");
  await chmod(join(path, "here"), 0o755);
});
afterEach(() => rm(path, { recursive: true, force: true }));

const packages = packagesOf("# what for\nhere  here-package\nnginx nginx-light more\n");

describe("a test that needs a command", () => {
  test("runs where it is there, and is skipped by name where it is not", () => {
    expect(missingOf(["here"], { path, isCi: false, packages })).toEqual([]);
    expect(missingOf(["here", "nginx", "podman"], { path, isCi: false, packages })).toEqual(["nginx", "podman"]);
  });

  test("fails in CI when it is one of those that CI installs, and names the package", () => {
    expect(missingOf(["here"], { path, isCi: true, packages })).toEqual([]);
    expect(() => missingOf(["nginx"], { path, isCi: true, packages })).toThrow(
      "nginx is missing, and .ci/packages says that CI installs it",
    );
    expect(missingOf(["podman"], { path, isCi: true, packages })).toEqual(["podman"]);
  });

  test("does not take a file that cannot be run, or another folder's, for it", async () => {
    await writeFile(join(path, "text"), "");
    expect(commandPath("text", path)).toBeUndefined();
    expect(commandPath("here", `relative:${path}`)).toBe(join(path, "here"));
  });
});

test("CI installs what the list names, and no second list exists", async () => {
  const known = packagesOf(await readFile(join(root, ".ci/packages"), "utf8"));
  expect([...known.keys()]).toEqual(expect.arrayContaining(["chromium", "curl", "nginx", "openssl"]));
  for (const names of known.values()) expect(names.length).toBeGreaterThan(0);
  const script = await readFile(join(root, ".ci/run"), "utf8");
  expect(script).toContain(".ci/packages");
  expect(script).not.toMatch(/nginx-light|fonts-dejavu-core/);
});

test("without nginx on the PATH its tests are skipped, the rest is not, and the run is a success that counts them", {
  timeout: 120_000,
}, async () => {
  for (const name of ["sh", "node", "env"]) await symlink(commandPath(name) ?? "", join(path, name));
  const { CI: _, VITEST: __, VITEST_WORKER_ID: ___, VITEST_POOL_ID: ____, NODE_ENV: _____, ...env } = process.env;
  const { stdout } = await run(
    process.execPath,
    ["test/run.mjs", "--project", "e2e", "test/e2e/edge-nginx.test.ts", "--report", join(path, "report.json")],
    { cwd: root, env: { ...env, PATH: path, NO_COLOR: "1" } },
  );
  expect(stdout.trim().split("\n").at(-1)).toMatch(/^0 passed, 0 failed, [1-9]\d* skipped$/);
});
