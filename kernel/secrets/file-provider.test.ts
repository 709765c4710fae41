import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { askFile, isPrivate, secretFilePath } from "./file-provider.ts";
import type { FileProvider } from "./provider.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-secret-file-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const provider = (own: Partial<FileProvider> = {}): FileProvider => ({
  ...{ source: "file", path: join(dir, "secrets"), mode: "json", timeoutMs: 5_000, maxBytes: 1_000 },
  ...own,
});
const keep = async (text: string | Uint8Array, mode = 0o600) => {
  await writeFile(join(dir, "secrets"), text);
  await chmod(join(dir, "secrets"), mode);
};
const ask = async (ids: string[], own: Partial<FileProvider> = {}) =>
  Object.fromEntries(await askFile(provider(own), { alias: "f", ids, env: { HOME: dir }, configDir: dir }));
const reason = (why: string) => ({ reason: `file ${join(dir, "secrets")}: ${why}` });

describe("a JSON file", () => {
  test.each([
    ["/plain", "one"],
    ["/deep/list/1", "three"],
    ["/a~1b", "slash"],
    ["/m~0n", "tilde"],
    ["/", "empty key"],
  ])("gives %s", async (pointer, value) => {
    await keep(JSON.stringify({ plain: "one", deep: { list: ["two", "three"] }, "a/b": "slash", "m~n": "tilde", "": "empty key" }));
    expect(await ask([pointer])).toEqual({ [pointer]: { value } });
  });

  test.each([
    ["/nothing", "has no such value at /nothing"],
    ["/deep", "the value is not a text at /deep"],
    ["/number", "the value is not a text at /number"],
    ["/empty", "the value is empty at /empty"],
    ["/deep/length/0", "has no such value at /deep/length/0"],
    ["/constructor/name", "has no such value at /constructor/name"],
    ["value", "expected a JSON pointer as id at value"],
  ])("gives nothing for %s", async (pointer, why) => {
    await keep(JSON.stringify({ deep: ["x"], number: 5, empty: "" }));
    expect(await ask([pointer])).toEqual({ [pointer]: reason(why) });
  });

  test("that is none is told so, without its text", async () => {
    await keep("my-secret-without-quotes");
    expect(await ask(["/a", "/b"])).toEqual({ "/a": reason("is not valid JSON"), "/b": reason("is not valid JSON") });
  });
});

describe("a file with a single value", () => {
  test.each([
    ["the-value", "the-value"],
    ["the-value\n", "the-value"],
    ["the-value\r\n", "the-value"],
    ["two\nlines\n", "two\nlines"],
    [" blanks stay ", " blanks stay "],
  ])("%j gives %j", async (text, value) => {
    await keep(text);
    expect(await ask(["value"], { mode: "singleValue" })).toEqual({ value: { value } });
  });

  test("that is empty, or asked for anything else, gives nothing", async () => {
    await keep("\n");
    expect(await ask(["value", "/a"], { mode: "singleValue" })).toEqual({
      value: reason("the value is empty"),
      "/a": reason('holds a single value; expected the id "value"'),
    });
  });
});

describe("a file is refused", () => {
  test("that does not exist", async () => {
    expect(await ask(["/a"])).toEqual({ "/a": reason("does not exist") });
  });

  test.each([0o640, 0o604, 0o620, 0o666])("with mode %o: others could know or change it", async (mode) => {
    await keep('{"a":"x"}', mode);
    expect(await ask(["/a"])).toEqual({ "/a": reason("can be read or written by others; expected mode 0600") });
  });

  test("of another user", () => {
    expect(isPrivate({ uid: (process.getuid?.() ?? 0) + 1, mode: 0o100600 })).toBe("belongs to another user");
  });

  test("that is a link, also to a good one", async () => {
    await keep('{"a":"x"}');
    await symlink(join(dir, "secrets"), join(dir, "link"));
    expect(await ask(["/a"], { path: join(dir, "link") })).toEqual({ "/a": { reason: `file ${join(dir, "link")}: is a symbolic link` } });
  });

  test("that is a folder", async () => {
    await mkdir(join(dir, "secrets"));
    expect(await ask(["/a"])).toEqual({ "/a": reason("is not a regular file") });
  });

  test("that is a FIFO, which nobody waits for", async () => {
    await promisify(execFile)("mkfifo", ["-m", "600", join(dir, "secrets")]);
    expect(await ask(["/a"])).toEqual({ "/a": reason("is not a regular file") });
  });

  test("that is larger than its limit; at the limit it is read", async () => {
    await keep(JSON.stringify({ a: "x".repeat(991) }).padEnd(1_000));
    expect(await ask(["/a"])).toEqual({ "/a": { value: "x".repeat(991) } });
    await keep(JSON.stringify({ a: "x".repeat(991) }).padEnd(1_001));
    expect(await ask(["/a"])).toEqual({ "/a": reason("is larger than 1000 bytes") });
  });

  test("that is not UTF-8", async () => {
    await keep(Buffer.from([0x7b, 0xe9, 0x7d]));
    expect(await ask(["/a"])).toEqual({ "/a": reason("is not UTF-8 text") });
  });
});

test.each([
  ["/etc/x", "/etc/x"],
  ["~/x", "/home/me/x"],
  ["~", "/home/me"],
  ["x/y", "/conf/x/y"],
  ["../x", "/x"],
])("the path %s leads to %s", (path, absolute) => {
  expect(secretFilePath(provider({ path }), { env: { HOME: "/home/me" }, configDir: "/conf" })).toBe(absolute);
});
