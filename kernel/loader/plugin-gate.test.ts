import { chmod, link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkPluginPaths, currentTrustHost, type GateRequest } from "./plugin-gate.ts";

let scanRoot: string;
let root: string;
let entry: string;
beforeEach(async () => {
  scanRoot = await realpath(await mkdtemp(join(tmpdir(), "svc-gate-")));
  root = join(scanRoot, "demo");
  entry = join(root, "src", "index.ts");
  await mkdir(join(root, "src"), { recursive: true });
  await writeFile(entry, "");
});
afterEach(() => rm(scanRoot, { recursive: true, force: true }));

const check = (request: Partial<GateRequest> = {}, host = currentTrustHost()) =>
  checkPluginPaths({ root, entry, scanRoot, trust: "scanned", ...request }, host);
const codeOf = async (...args: Parameters<typeof check>) => {
  const result = await check(...args);
  return result.ok ? undefined : result.problem.code;
};

test("a private folder with its entry inside passes, with its resolved paths", async () => {
  expect(await check()).toEqual({ ok: true, root, entry });
});

describe("writable by everybody is refused for", () => {
  test.each([
    ["the folder of plugins", () => scanRoot],
    ["the plugin's folder", () => root],
    ["a folder on the way to the entry", () => join(root, "src")],
    ["the entry", () => entry],
  ])("%s", async (_, path) => {
    await chmod(path(), 0o777);
    const result = await check();
    expect(result).toMatchObject({ ok: false, problem: { state: "blocked", code: "world-writable", hint: `chmod o-w ${path()}` } });
  });
});

test("writable by the group is the operator's business", async () => {
  await chmod(root, 0o775);
  expect(await codeOf()).toBeUndefined();
});

describe("the owner", () => {
  const owner = process.getuid?.() ?? 0;

  test("may be this user or root", async () => {
    expect(await codeOf({}, { platform: "linux", uid: owner })).toBeUndefined();
  });

  test("may not be anybody else", async () => {
    const { chown } = await import("node:fs/promises");
    if (owner === 0) await chown(entry, 4_711, 4_711);
    const result = await check({}, { platform: "linux", uid: owner === 0 ? 0 : owner + 1 });
    expect(result).toMatchObject({
      ok: false,
      problem: { code: "bad-owner", reason: expect.stringMatching(/belongs to user \d+, expected \d+ or 0/) },
    });
  });
});

test("an entry with a second name is refused", async () => {
  await link(entry, join(scanRoot, "second.ts"));
  expect(await codeOf()).toBe("hardlink");
});

test("an entry that is a folder is refused", async () => {
  expect(await codeOf({ entry: join(root, "src") })).toBe("path-escape");
});

describe("leading outside is refused for", () => {
  test("an entry above the folder", async () => {
    await writeFile(join(scanRoot, "up.ts"), "");
    expect(await codeOf({ entry: join(root, "..", "up.ts") })).toBe("path-escape");
  });

  test("an entry behind a link", async () => {
    await writeFile(join(scanRoot, "up.ts"), "");
    await symlink(join(scanRoot, "up.ts"), join(root, "linked.ts"));
    expect(await codeOf({ entry: join(root, "linked.ts") })).toBe("path-escape");
  });

  test("a folder whose name only begins like the plugin's", async () => {
    await mkdir(join(scanRoot, "demo-2"));
    await writeFile(join(scanRoot, "demo-2", "index.ts"), "");
    expect(await codeOf({ entry: join(scanRoot, "demo-2", "index.ts") })).toBe("path-escape");
  });

  test("a linked folder, unless the operator named it", async () => {
    await symlink(root, join(scanRoot, "linked"));
    const linked = { root: join(scanRoot, "linked"), entry: join(scanRoot, "linked", "src", "index.ts") };
    expect(await codeOf(linked)).toBe("path-escape");
    expect(await check({ ...linked, scanRoot: linked.root, trust: "named" })).toEqual({ ok: true, root, entry });
  });

  test("an entry that is gone", async () => {
    await rm(entry);
    expect(await codeOf()).toBe("path-escape");
  });
});

test("on Windows only containment counts", async () => {
  await chmod(root, 0o777);
  const windows = { platform: "win32" as const, uid: undefined };
  expect(await codeOf({}, windows)).toBeUndefined();
  expect(await codeOf({ entry: scanRoot }, windows)).toBe("path-escape");
});
