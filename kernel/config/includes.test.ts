import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { loadConfig } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "svc-include-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Writes files below the test's folder and reads `conf/svc.json`. */
async function load(files: Record<string, string>, env: Record<string, string> = {}): Promise<LoadedConfig> {
  await mkdir(join(dir, "conf"), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return loadConfig(join(dir, "conf", "svc.json"), { env });
}
const conf = (name: string) => join(dir, "conf", name);
const onlyIssue = (loaded: LoadedConfig) => {
  expect(loaded).toMatchObject({ valid: false });
  expect(loaded.config).toBeUndefined();
  expect(loaded.issues).toHaveLength(1);
  return loaded.issues[0] as LoadedConfig["issues"][number];
};

describe("$include", () => {
  test("with one path is replaced by that file, wherever it stands", async () => {
    const loaded = await load({
      "conf/svc.json": '{ gateway: { $include: "./gateway.json5" }, agents: { list: [{ $include: "agents/ops.json" }] } }',
      "conf/gateway.json5": '{ /* mine */ mode: "local", port: 19000, }',
      "conf/agents/ops.json": '{ "id": "ops" }',
    });
    expect(loaded.issues).toEqual([]);
    expect(loaded.source).toEqual({ gateway: { mode: "local", port: 19_000 }, agents: { list: [{ id: "ops" }] } });
    expect(loaded.config?.agents.list[0]?.id).toBe("ops");
    expect(loaded.authored).toEqual({ gateway: { $include: "./gateway.json5" }, agents: { list: [{ $include: "agents/ops.json" }] } });
  });

  test("may bring a list where a list is expected", async () => {
    const loaded = await load({
      "conf/svc.json": '{ agents: { list: { $include: "./list.json" } } }',
      "conf/list.json": '[{ "id": "a" }, { "id": "b" }]',
    });
    expect(loaded.config?.agents.list.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("of one large file again and again is refused, before it is merged without end", async () => {
    const loaded = await load({
      "conf/svc.json": JSON.stringify({ $include: Array(6).fill("./large.json") }),
      "conf/large.json": JSON.stringify({ gateway: { mode: "x".repeat(4_000_000) } }),
    });

    expect(loaded.issues.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("more than 16777216 characters included in all"),
    );
  });

  test("with several paths merges them left to right: objects merge, lists and scalars replace", async () => {
    const loaded = await load({
      "conf/svc.json": '{ $include: ["./a.json", "./b.json", "./c.json"] }',
      "conf/a.json": '{ gateway: { mode: "local", port: 1 }, tools: { allow: ["x", "y"] } }',
      "conf/b.json": '{ gateway: { port: 2 }, tools: { allow: ["z"] } }',
      "conf/c.json": "{ gateway: { port: 3 } }",
    });
    expect(loaded.source).toEqual({ gateway: { mode: "local", port: 3 }, tools: { allow: ["z"] } });
  });

  test("is overruled by the keys beside it, which are merged last", async () => {
    const loaded = await load({
      "conf/svc.json": '{ gateway: { port: 5, $include: "./base.json", auth: { token: "from-main" } } }',
      "conf/base.json": '{ port: 4, mode: "local", auth: { mode: "token", token: "from-base" } }',
    });
    expect(loaded.source).toEqual({ gateway: { port: 5, mode: "local", auth: { mode: "token", token: "from-main" } } });
  });

  test("starts at the folder of the file it stands in", async () => {
    const loaded = await load({
      "conf/svc.json": '{ $include: "./parts/all.json" }',
      "conf/parts/all.json": '{ gateway: { $include: "gateway.json" }, logging: { $include: "../logging.json" } }',
      "conf/parts/gateway.json": "{ port: 7 }",
      "conf/logging.json": '{ level: "warn" }',
    });
    expect(loaded.source).toEqual({ gateway: { port: 7 }, logging: { level: "warn" } });
  });

  test("takes the same file in two places, and counts it once", async () => {
    const loaded = await load({
      "conf/svc.json": '{ agents: { list: [{ id: "a", $include: "./x.json" }, { id: "b", $include: "./x.json" }] } }',
      "conf/x.json": '{ name: "X" }',
    });
    expect(loaded.config?.agents.list.map(({ name }) => name)).toEqual(["X", "X"]);
    expect(loaded.files.map(({ path }) => path)).toEqual([conf("svc.json"), conf("x.json")]);
  });

  test("takes variables in the included files", async () => {
    const loaded = await load(
      { "conf/svc.json": '{ gateway: { $include: "./g.json" } }', "conf/g.json": '{ auth: { token: "${TOKEN}" } }' },
      { TOKEN: "s3cret-value" },
    );
    expect(loaded.config?.gateway.auth.token).toBe("s3cret-value");
    expect(JSON.stringify(loaded.source)).not.toContain("s3cret-value");
  });

  test("does not take variables in its path", async () => {
    const loaded = await load({ "conf/svc.json": '{ $include: "./${NAME}.json" }', "conf/x.json": "{}" }, { NAME: "x" });
    expect(onlyIssue(loaded)).toMatchObject({ code: "include", message: expect.stringContaining("no such file") });
  });
});

describe("what is read", () => {
  test("is told in order, with texts, and hashed over all bytes", async () => {
    const main = '\uFEFF{ gateway: { $include: "./g.json" } }';
    const loaded = await load({ "conf/svc.json": main, "conf/g.json": "{ port: 7 }" });
    expect(loaded.files).toEqual([
      { path: conf("svc.json"), text: main.slice(1), bom: true },
      { path: conf("g.json"), text: "{ port: 7 }", bom: false },
    ]);
    expect(loaded.text).toBe(main.slice(1));
    expect(loaded.hash).toBe(createHash("sha256").update(main).update("{ port: 7 }").digest("hex"));
  });

  test("without a file is nothing, and the hash is that of nothing", async () => {
    const loaded = await loadConfig(join(dir, "none.json"), { env: {} });
    expect(loaded).toMatchObject({
      exists: false,
      valid: true,
      files: [],
      watched: [join(dir, "none.json")],
      text: "",
      source: {},
      authored: {},
    });
    expect(loaded.hash).toBe(createHash("sha256").digest("hex"));
  });

  test("is watched, and so is what was missed and what links lead to", async () => {
    await mkdir(join(dir, "conf", "real"), { recursive: true });
    await writeFile(conf("real/g.json"), "{}");
    await symlink(conf("real/g.json"), conf("g.json"));
    const loaded = await load({ "conf/svc.json": '{ gateway: { $include: "./g.json" }, tools: { $include: "./gone.json" } }' });
    expect(loaded.watched).toEqual([conf("svc.json"), conf("g.json"), conf("real/g.json"), conf("gone.json")]);
  });

  test("may be a candidate that is not on disk, main file and included one", async () => {
    await load({ "conf/svc.json": '{ gateway: { $include: "./g.json" } }', "conf/g.json": "{ port: 7 }" });
    const overlay = new Map([[conf("g.json"), "{ port: 8 }"]]);
    expect((await loadConfig(conf("svc.json"), { env: {}, overlay })).source).toEqual({ gateway: { port: 8 } });
    overlay.set(conf("svc.json"), '{ gateway: { port: 1 }, tools: { $include: "./new.json" } }').set(conf("new.json"), "{ deny: [] }");
    expect((await loadConfig(conf("svc.json"), { env: {}, overlay })).source).toEqual({ gateway: { port: 1 }, tools: { deny: [] } });
  });
});

describe("an included file is refused", () => {
  test("when it is missing, with the chain of files", async () => {
    const issue = onlyIssue(
      await load({
        "conf/svc.json": '{\n  gateway: { $include: "./g.json" } }',
        "conf/g.json": '{\n\n auth: { $include: "sub/auth.json" } }',
      }),
    );
    expect(formatIssue(issue)).toBe(
      'g.json:3:20  auth.$include: $include "sub/auth.json": there is no such file (svc.json → g.json → sub/auth.json)',
    );
    expect(issue.code).toBe("include");
  });

  test("when it does not parse, at the place in that file, with the chain", async () => {
    const issue = onlyIssue(await load({ "conf/svc.json": '{ gateway: { $include: "./g.json" } }', "conf/g.json": "{\n  port: 1 1 }" }));
    expect(issue).toMatchObject({
      code: "parse",
      file: "g.json",
      line: 2,
      column: 11,
      message: expect.stringContaining("(svc.json → g.json)"),
    });
  });

  test.each([
    ["itself", { "conf/svc.json": '{ gateway: { $include: "./svc.json" } }' }, "svc.json → svc.json"],
    [
      "a file that includes it",
      {
        "conf/svc.json": '{ gateway: { $include: "./a.json" } }',
        "conf/a.json": '{ $include: "b.json" }',
        "conf/b.json": '{ $include: "a.json" }',
      },
      "svc.json → a.json → b.json → a.json",
    ],
  ])("when it includes %s", async (_, files, chain) => {
    expect(onlyIssue(await load(files))).toMatchObject({
      code: "include",
      message: expect.stringMatching(new RegExp(`includes itself \\(${chain}\\)$`)),
    });
  });

  test("when it includes itself through a link", async () => {
    await mkdir(join(dir, "conf"));
    await symlink(conf("svc.json"), conf("other.json"));
    const issue = onlyIssue(await load({ "conf/svc.json": '{ gateway: { $include: "./other.json" } }' }));
    expect(issue.message).toContain("includes itself (svc.json → other.json)");
  });

  test("more than 10 files deep; at 10 it is read", async () => {
    const chain = (depth: number) =>
      Object.fromEntries(
        Array.from({ length: depth + 1 }, (_, i) => [
          i === 0 ? "conf/svc.json" : `conf/f${i}.json`,
          i === depth ? "{ gateway: { port: 9 } }" : `{ $include: "f${i + 1}.json" }`,
        ]),
      );
    expect((await load(chain(10))).config?.gateway.port).toBe(9);
    expect(onlyIssue(await load(chain(11)))).toMatchObject({
      code: "include",
      message: expect.stringContaining("more than 10 files deep"),
    });
  });

  test("after 256 inclusions, however few the files are", async () => {
    const list = (count: number) => ({
      "conf/svc.json": `{ $include: [${'"a.json",'.repeat(16)}] }`,
      "conf/a.json": `{ $include: [${'"b.json",'.repeat(count)}] }`,
      "conf/b.json": "{}",
    });
    expect((await load(list(15))).valid).toBe(true);
    const { issues } = await load(list(16));
    expect(issues.length).toBeGreaterThan(0);
    expect(issues[0]).toMatchObject({ code: "include", message: expect.stringContaining("more than 256 inclusions") });
  });

  test.each([
    ["an empty path", '""', "expected a path, got an empty text"],
    ["a NUL in the path", '"a\\u0000b"', "the path holds a NUL character"],
    ["a path of 4096 characters", JSON.stringify(`./${"x".repeat(4094)}`), "characters; expected fewer than 4096"],
    ["a number", "5", "expected a path or a non-empty list of paths"],
    ["an empty list", "[]", "expected a path or a non-empty list of paths"],
    ["a list with something else in it", '["a.json", 5]', "expected a path or a non-empty list of paths"],
    ["null", "null", "expected a path or a non-empty list of paths"],
  ])("with %s", async (_, include, message) => {
    const issue = onlyIssue(await load({ "conf/svc.json": `{ tools: { $include: ${include} } }`, "conf/a.json": "{}" }));
    expect(issue).toMatchObject({ code: "include", message: expect.stringContaining(message), file: "svc.json", line: 1 });
  });

  test("that is no object where keys stand beside it", async () => {
    const issue = onlyIssue(await load({ "conf/svc.json": '{ tools: { $include: "l.json", deny: [] } }', "conf/l.json": "[1]" }));
    expect(issue.message).toContain("must include an object");
  });

  test("that is a folder, a FIFO or larger than 8 MiB; none of them makes it wait", async () => {
    await mkdir(join(dir, "conf", "folder"), { recursive: true });
    await promisify(execFile)("mkfifo", [conf("fifo")]);
    await writeFile(conf("big.json"), " ".repeat(8 * 1024 * 1024 + 1));
    for (const [name, reason] of [
      ["folder", "is not a regular file"],
      ["fifo", "is not a regular file"],
      ["big.json", "larger than 8 MiB"],
    ] as const) {
      const issue = onlyIssue(await load({ "conf/svc.json": `{ tools: { $include: "${name}" } }` }));
      expect(issue).toMatchObject({ code: "parse", file: name, message: expect.stringContaining(reason) });
    }
  });

  test("that is not UTF-8", async () => {
    await mkdir(join(dir, "conf"));
    await writeFile(conf("latin.json"), Buffer.from([0x7b, 0x7d, 0xe9]));
    expect(onlyIssue(await load({ "conf/svc.json": '{ tools: { $include: "latin.json" } }' })).message).toContain("not UTF-8");
  });

  test("with a key that could poison objects", async () => {
    const issue = onlyIssue(
      await load({ "conf/svc.json": '{ tools: { $include: "p.json" } }', "conf/p.json": '{\n "__proto__": { x: 1 } }' }),
    );
    expect(issue).toMatchObject({ code: "unknown_key", file: "p.json", line: 2, column: 2 });
  });

  test("and everything wrong with the includes is told at once", async () => {
    const { issues } = await load({ "conf/svc.json": '{ tools: { $include: "x.json" }, agents: { $include: "y.json" } }' });
    expect(issues.map(({ path }) => path)).toEqual(["tools.$include", "agents.$include"]);
  });
});

describe("includes stay in the folder of the config file", () => {
  const outside = { "outside/x.json": '{ deny: ["a"] }' };

  test.each([
    ["a relative path", () => "../outside/x.json"],
    ["an absolute path", () => join(dir, "outside", "x.json")],
  ])("%s out of it is refused", async (_, path) => {
    const issue = onlyIssue(await load({ ...outside, "conf/svc.json": `{ tools: { $include: "${path()}" } }` }));
    expect(issue).toMatchObject({ code: "include", message: expect.stringContaining("lies outside of the allowed folders") });
  });

  test.each([
    ["a file", "outside/x.json", "x.json"],
    ["a folder", "outside", "x.json/x.json"],
  ])("a link to %s out of it is refused", async (_, target, path) => {
    await load(outside);
    await symlink(join(dir, target), conf("x.json"));
    expect(onlyIssue(await load({ "conf/svc.json": `{ tools: { $include: "./${path}" } }` })).message).toContain("outside");
  });

  test("a folder whose name begins alike is another folder", async () => {
    const issue = onlyIssue(await load({ "conf-two/x.json": "{}", "conf/svc.json": '{ tools: { $include: "../conf-two/x.json" } }' }));
    expect(issue.message).toContain("outside");
  });

  test("unless SVC_INCLUDE_ROOTS names that folder", async () => {
    const files = { ...outside, "conf/svc.json": '{ tools: { $include: "../outside/x.json" } }' };
    const loaded = await load(files, { SVC_INCLUDE_ROOTS: `/nowhere:${join(dir, "outside")}` });
    expect(loaded.config?.tools.deny).toEqual(["a"]);
  });

  test("an absolute path inside of it is fine", async () => {
    const loaded = await load({ "conf/svc.json": `{ tools: { $include: "${conf("t.json")}" } }`, "conf/t.json": '{ deny: ["b"] }' });
    expect(loaded.config?.tools.deny).toEqual(["b"]);
  });

  test("and a config file that is a link itself does not widen it", async () => {
    await load({
      "real/svc.json": '{ tools: { $include: "./t.json" } }',
      "real/t.json": '{ deny: ["real"] }',
      "conf/t.json": '{ deny: ["conf"] }',
    });
    await symlink(join(dir, "real", "svc.json"), conf("svc.json"));
    const loaded = await loadConfig(conf("svc.json"), { env: {} });
    expect(loaded.config?.tools.deny).toEqual(["conf"]);
    expect(loaded.watched).toContain(join(dir, "real", "svc.json"));
  });
});

describe("where a value comes from", () => {
  const files = {
    "conf/svc.json":
      '{\n gateway: { $include: "./g.json", port: 5, publicOrigin: "https://x.example" },\n tools: { $include: ["./a.json", "./b.json"] } }',
    "conf/g.json": '{\n\n\n port: 4,\n auth: { token: "the-token" } }',
    "conf/a.json": '{ allow: ["a"], deny: ["a"] }',
    "conf/b.json": '{ deny: ["b"] }',
  };

  test.each([
    [["gateway", "auth", "token"], "g.json", ["auth", "token"], "file"],
    [["gateway", "auth", "new"], "g.json", ["auth", "new"], "file"],
    [["gateway", "port"], "svc.json", ["gateway", "port"], "override"],
    [["gateway", "publicOrigin"], "svc.json", ["gateway", "publicOrigin"], "file"],
    [["tools", "allow"], "a.json", ["allow"], "array"],
    [["tools", "deny", 0], "b.json", ["deny", 0], "array"],
    [["logging", "level"], "svc.json", ["logging", "level"], "file"],
  ])("%j is written in %s", async (path, file, inside, via) => {
    const loaded = await load(files);
    expect(loaded.originOf(path)).toMatchObject({ file: conf(file), path: inside, via });
  });

  test("is the place that an issue names", async () => {
    const { issues } = await load({ ...files, "conf/g.json": '{\n\n\n port: 4,\n  moed: "local" }', "conf/b.json": "{ deny: 5 }" });
    expect(issues.map(formatIssue)).toEqual([
      "b.json:1:9  tools.deny: expected array, received number, got 5",
      'g.json:5:3  gateway.moed: unknown key "moed"\n  hint: did you mean "mode"?',
    ]);
  });
});
