import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchLeaks } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSandbox } from "../../../test/tools/transform-sandbox.ts";
import { isLocalName } from "./module-file.ts";
import { fault, stage } from "./testing/stage.ts";

const failed = (reason: string): unknown => expect.objectContaining({ code: "transform-failed", reason: expect.stringContaining(reason) });

const here = stage({ beforeEach, afterEach, watchLeaks, openSandbox });
const { write, open, use } = here;
let outside: string;
beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), "svc-outside-")));
  await writeFile(join(outside, "out.js"), "export default () => null;");
});
afterEach(() => rm(outside, { recursive: true, force: true }));
const within = (module: string) => `hook transform module path must be within ${here.root}: ${module}`;
const leftOut = (link: string) =>
  `${join(here.root, link)} is a link that leads out of ${here.root}; it is left out, and a transform that needs it fails`;
const problems = async (module: string) =>
  (await here.transforms.problems([module])).map(({ module: of, severity, message }) => [of, severity, message]);

describe("a module's name", () => {
  test.each(["a.ts", "lib/a.mts", "./a.js", "a..b.js", ".hidden/a.js", "...js", "a b.js"])("%s may stand below the folder", (name) => {
    expect(isLocalName(name)).toBe(true);
  });

  test.each([
    ...["/etc/passwd.js", "\\\\host\\share\\a.js", "\\a.js", "C:\\a.js", "c:a.js", "C:/a.js"],
    ...["file:///etc/a.js", "https://example.org/a.js", "data:text/javascript,1", "node:fs"],
    ...["a\0.js", "../a.js", "lib/../../a.js", "lib/..", "lib\\..\\a.js", ".."],
  ])("%j is refused before any file is looked at", async (name) => {
    expect(isLocalName(name)).toBe(false);
    open();
    expect(await problems(name)).toEqual([[name, "error", within(name)]]);
    expect(await fault(use(name))).toEqual(failed(within(name)));
  });
});

describe("a module", () => {
  test.each([
    ["is a link to a file outside", async () => symlink(join(outside, "out.js"), join(here.root, "link.js")), "link.js", "link.js"],
    ["stands in a folder that is a link", async () => symlink(outside, join(here.root, "lib")), "lib/out.js", "lib"],
    [
      "is behind two links",
      async () => {
        await symlink(outside, join(here.root, "first"));
        await symlink("first/out.js", join(here.root, "second.js"));
      },
      "second.js",
      "first",
    ],
    ["is not there, in a folder that is a link", async () => symlink(outside, join(here.root, "lib")), "lib/none.js", "lib"],
  ] as const)("that %s is refused, and those beside it go on", async (_name, make, module, shown) => {
    await write({ "fine.js": "export default () => null;" });
    await make();
    open();
    const found = await problems(module);
    expect(found).toContainEqual([undefined, "warning", leftOut(shown)]);
    expect(found.filter(([, severity]) => severity === "error")).toEqual([[module, "error", within(module)]]);
    expect(await fault(use(module))).toEqual(failed(within(module)));
    expect(await use("fine.js")).toEqual({ kind: "skip" });
  });

  test("goes on beside a stray link that leads out, and cannot read through it", async () => {
    await write({
      "a.ts":
        'import { name } from "./lib/b.ts";\nimport data from "./data.json" with { type: "json" };\nexport default () => ({ name: name + data.n });',
      "lib/b.ts": 'export const name = "b";',
      "data.json": '{ "n": 1 }',
      "peek.js": `import { readFileSync } from "node:fs";
        const root = new URL(".", import.meta.url);
        const read = (path) => { try { return readFileSync(new URL(path, root), "utf8"); } catch (error) { return error.code; } };
        export default ({ payload }) => ({ name: payload.map(read).join(" ") });`,
    });
    await symlink(outside, join(here.root, "notes"));
    await symlink(join(outside, "out.js"), join(here.root, "lib", "stray.js"));
    await symlink("lib", join(here.root, "again"));
    open();
    expect(await use("a.ts")).toEqual({ kind: "fields", fields: { name: "b1" } });
    const ways = ["notes/out.js", "lib/stray.js", "again/stray.js", "lib/../notes/out.js", "/proc/self/cwd/package.json", "data.json"];
    const denied = Array.from({ length: 5 }, () => "ERR_ACCESS_DENIED");
    expect(await use("peek.js", { given: { payload: ways } })).toEqual({
      kind: "fields",
      fields: { name: [...denied, '{ "n": 1 }'].join(" ") },
    });
  });

  test("may be a link that stays inside, and links that lead nowhere hurt nobody", async () => {
    await write({ "lib/real.ts": 'export default (): object => ({ name: "real" });' });
    await symlink("lib/real.ts", join(here.root, "link.ts"));
    await symlink("user@host.1234", join(here.root, ".#link.ts"));
    open();
    expect(await problems("link.ts")).toEqual([]);
    expect(await use("link.ts")).toEqual({ kind: "fields", fields: { name: "real" } });
  });

  test("that imports what is outside is refused, whatever the isolation", async () => {
    await write({
      "a.ts": 'import { b } from "./lib/b.ts";\nexport default b;',
      "lib/b.ts": `export { default as b } from "${outside}/out.js";`,
    });
    for (const isolation of ["process", "worker", "off"] as const) {
      open({ isolation });
      const reason = `a.ts: lib/b.ts imports "${outside}/out.js", which is outside of its folder`;
      expect(await problems("a.ts")).toEqual([["a.ts", "error", reason]]);
      expect(await fault(use("a.ts"))).toEqual(failed(reason));
    }
  });

  test("must be there, a file, of a known kind, and not open to everybody's pen", async () => {
    await write({ "folder.js/index.js": "", "data.json": "{}", "open.js": "export default () => null;" });
    open();
    expect(await problems("none.js")).toEqual([["none.js", "error", `hook transform module is not there: ${here.root}/none.js`]]);
    expect(await problems("folder.js")).toEqual([
      ["folder.js", "error", `hook transform module is not a regular file: ${here.root}/folder.js`],
    ]);
    expect(await problems("data.json")).toEqual([
      ["data.json", "error", "hook transform module must be a .ts, .mts, .js, .mjs, .cjs file: data.json"],
    ]);
    expect(await problems("open.js")).toEqual([]);
    await chmod(join(here.root, "open.js"), 0o666);
    const reason = `${here.root}/open.js can be written by everybody; run: chmod o-w ${here.root}/open.js`;
    expect(await problems("open.js")).toEqual([
      [undefined, "error", reason],
      ["open.js", "error", reason],
    ]);
  });

  test("that was refused works as soon as it is put right", async () => {
    let now = 0;
    open({ isolation: "worker" }, { now: () => now });
    expect((await fault(use("late.js"))).reason).toContain("is not there");
    await write({ "late.js": "export default () => null;" });
    now += 1_000;
    expect(await use("late.js")).toEqual({ kind: "skip" });
  });
});

describe("the folder", () => {
  test("must be the one beside the config, or lie in it, links resolved", async () => {
    const inner = join(here.root, "inner");
    await mkdir(inner);
    await symlink(outside, join(here.root, "leads-out"));
    const messages = async (dir: string) => {
      open({}, { dir });
      return (await here.transforms.problems([])).map(({ message }) => message);
    };
    expect(await messages(inner)).toEqual([]);
    expect(await messages(join(here.root, "not-there-yet"))).toEqual([]);
    for (const dir of [
      outside,
      join(here.root, "leads-out"),
      join(here.root, ".."),
      `${here.root}-beside`,
      join(here.root, "leads-out", "none"),
    ]) {
      expect(await messages(dir)).toEqual([`hooks.transformsDir must be within ${here.root}: ${dir}`]);
    }
  });

  test("may be a link itself, as long as root and folder lead to the same place", async () => {
    const link = join(outside, "config");
    await symlink(here.root, link);
    await write({ "inner/a.js": "export default () => null;" });
    open({ isolation: "worker" }, { root: link, dir: join(link, "inner") });
    expect(await use("a.js")).toEqual({ kind: "skip" });
  });

  test("that everybody may write is told of", async () => {
    await mkdir(join(here.root, "lib"));
    await chmod(here.root, 0o777);
    await chmod(join(here.root, "lib"), 0o777);
    open();
    const advice = (path: string) => `${path} can be written by everybody; run: chmod o-w ${path}`;
    expect(await here.transforms.problems([])).toEqual([
      { severity: "warning", message: advice(here.root) },
      { severity: "warning", message: advice(join(here.root, "lib")) },
    ]);
  });

  test("holds at most five hundred files", async () => {
    await write(Object.fromEntries(Array.from({ length: 498 }, (_, i) => [`data/${i}.json`, "{}"])));
    await write({ "a.js": "export default () => null;" });
    open({ isolation: "worker" });
    expect(await problems("a.js")).toEqual([]);
    expect(await use("a.js")).toEqual({ kind: "skip" });
    await write({ "one.js": "", "two.js": "" });
    const reason = `${here.root} holds more than 500 files; keep only transforms and their helpers there`;
    expect(await problems("a.js")).toEqual([
      [undefined, "error", reason],
      ["a.js", "error", reason],
    ]);
  });
});
