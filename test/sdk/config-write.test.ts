import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import JSON5 from "json5";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { restoreLastGood, saveLastGood } from "../../kernel/config/last-good.ts";
import { loadConfig } from "../../kernel/config/load.ts";
import { type ConfigWriterHost, writeConfig } from "../../kernel/config/write.ts";
import { setFailpoint } from "../../sdk/failpoint.ts";
import { withValueAt } from "../../sdk/internal/config-paths.ts";
import type { ConfigWriteOptions } from "../../sdk/types/config-file.ts";

const parse = (text: string): unknown => JSON5.parse(text);

let dir: string;
let path: string;
let host: ConfigWriterHost;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-write-"));
  path = join(dir, "svc.json");
  const load: ConfigWriterHost["load"] = (overlay) => loadConfig(path, { env: {}, overlay, secrets: "none" });
  host = { path, readonly: false, load };
});
afterEach(async () => {
  setFailpoint(undefined);
  await rm(dir, { recursive: true, force: true });
});

const base = `// mine
{
  gateway: { mode: "local", port: 18789 }, // here
}
`;
const set = (at: Array<string | number>, value: unknown, options?: ConfigWriteOptions) =>
  writeConfig(host, { kind: "edit", apply: (source) => withValueAt(source, at, value) }, options);
const setPort = (port: number, options?: ConfigWriteOptions) => set(["gateway", "port"], port, options);
const text = (name = "svc.json") => readFile(join(dir, name), "utf8");
const names = async () => (await readdir(dir)).sort();

describe("a write", () => {
  test("changes its place and nothing else, and keeps the old bytes as a backup", async () => {
    await writeFile(path, base);
    const done = await setPort(1234);
    expect(done).toMatchObject({ changed: true, file: path, changedPaths: ["gateway.port"], warnings: [] });
    expect(await text()).toBe(base.replace("18789", "1234"));
    expect(await names()).toEqual(["svc.json", "svc.json.bak"]);
    expect(await text("svc.json.bak")).toBe(base);
    expect((await host.load()).hash).toBe(done.after.hash);
  });

  test("of what is there already touches no byte and leaves no file", async () => {
    await writeFile(path, base);
    const { mtimeMs, ino } = await stat(path);
    expect(await setPort(18_789)).toMatchObject({ changed: false, changedPaths: [] });
    expect(await stat(path)).toMatchObject({ mtimeMs, ino });
    expect(await names()).toEqual(["svc.json"]);
  });

  test("makes the file when there is none, and its folder, for their owner only", async () => {
    await rm(dir, { recursive: true });
    await set(["gateway", "mode"], "local");
    expect(await text()).toBe('{\n  "gateway": {\n    "mode": "local"\n  }\n}\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  test("keeps a byte order mark", async () => {
    await writeFile(path, `\uFEFF${base}`);
    await setPort(1);
    expect(await text()).toBe(`\uFEFF${base.replace("18789", "1")}`);
  });

  test.each([
    [0o644, 0o600],
    [0o400, 0o400],
  ])("of a file with mode %o leaves one with mode %o", async (before, after) => {
    await writeFile(path, base);
    await chmod(path, before);
    await setPort(1);
    expect((await stat(path)).mode & 0o777).toBe(after);
  });

  test("replaces what a link leads to, and leaves the link", async () => {
    await mkdir(join(dir, "real"));
    await writeFile(join(dir, "real", "there.json"), base);
    await symlink("real/there.json", path);
    await setPort(1);
    expect(await text("real/there.json")).toBe(base.replace("18789", "1"));
    expect(await readdir(join(dir, "real"))).toEqual(["there.json"]);
    expect(await names()).toEqual(["real", "svc.json", "svc.json.bak"]);
  });

  test("keeps five backups, the newest first", async () => {
    await writeFile(path, base);
    for (let port = 1; port <= 7; port++) await setPort(port);
    expect(await names()).toEqual(["svc.json", ...["", ".1", ".2", ".3", ".4"].map((n) => `svc.json.bak${n}`)]);
    const ports = await Promise.all(["", ".1", ".2", ".3", ".4"].map(async (n) => /port: (\d+)/.exec(await text(`svc.json.bak${n}`))?.[1]));
    expect(ports).toEqual(["6", "5", "4", "3", "2"]);
  });

  test("that loses comments says so before it happens", async () => {
    await writeFile(path, base.replace("port: 18789", "controlUi: { allowedOrigins: [/* a */ 'http://a'] }"));
    const told: string[] = [];
    const onWarning = (message: string) => told.push(message);
    await set(["gateway", "controlUi", "allowedOrigins"], undefined, { dryRun: true, onWarning });
    expect(told).toEqual([]);
    const { warnings } = await set(["gateway", "controlUi", "allowedOrigins"], undefined, { onWarning });
    expect(told).toEqual(warnings);
    expect(told).toEqual([expect.stringMatching(/^the comments inside gateway\.controlUi\.allowedOrigins are lost/)]);
  });

  test("as a trial decides everything and writes nothing", async () => {
    await writeFile(path, base);
    expect(await setPort(1, { dryRun: true })).toMatchObject({ changed: true, changedPaths: ["gateway.port"] });
    await expect(set(["gateway", "port"], "x", { dryRun: true })).rejects.toMatchObject({ code: "config-rejected" });
    expect(await names()).toEqual(["svc.json"]);
    expect(await text()).toBe(base);
  });
});

describe("a write is refused", () => {
  beforeEach(() => writeFile(path, base));

  test("that leaves an invalid config; the candidate is kept, the last five of them", async () => {
    for (let i = 0; i < 7; i++) await expect(set(["gateway", "port"], `x${i}`)).rejects.toMatchObject({ code: "config-rejected" });
    const rejected = (await names()).filter((name) => name.startsWith("svc.json.rejected."));
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThanOrEqual(5);
    expect(await text(rejected.at(-1))).toContain('port: "x6"');
    expect(await text()).toBe(base);
  });

  test("that drops gateway.mode, unless all is allowed", async () => {
    await expect(set(["gateway", "mode"], undefined)).rejects.toMatchObject({
      code: "config-clobber",
      message: expect.stringMatching(/gateway\.mode would be dropped/),
    });
    await expect(set(["gateway", "mode"], undefined, { allowDestructive: "shrink" })).rejects.toMatchObject({ code: "config-clobber" });
    expect(await set(["gateway", "mode"], undefined, { allowDestructive: "all" })).toMatchObject({ changed: true });
  });

  test.each([
    [1_001, 500, "config-clobber"],
    [1_001, 501, undefined],
    [1_002, 501, undefined],
    [1_000, 400, undefined],
  ])("of a file of %i bytes that would have %i", async (before, after, code) => {
    const sized = (bytes: number) => {
      const empty = '{gateway:{mode:"local"},env:{vars:{A:""}}}';
      return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
    };
    await writeFile(path, sized(before));
    const write = writeConfig(host, { kind: "replace", raw: sized(after) });
    if (code) await expect(write).rejects.toMatchObject({ code, message: expect.stringMatching(/would shrink from 1001 to 500 bytes/) });
    else expect(await write).toMatchObject({ changed: true });
    const allowed = await writeConfig(host, { kind: "replace", raw: sized(after) }, { allowDestructive: "shrink" });
    expect(Buffer.byteLength(await text())).toBe(after);
    expect(allowed.changed).toBe(code !== undefined);
  });

  test("with a hash that is not the present one, or without one where it is needed", async () => {
    const { hash } = await host.load();
    await setPort(1, { baseHash: hash });
    const current = (await host.load()).hash;
    await expect(setPort(2, { baseHash: hash })).rejects.toMatchObject({ code: "config-conflict", fields: { currentHash: current } });
    await expect(setPort(2, { requireHash: true })).rejects.toMatchObject({ code: "config-hash-required" });
  });

  test("while SVC_CONFIG_READONLY is set", async () => {
    host.readonly = true;
    await expect(setPort(1)).rejects.toMatchObject({ code: "config-readonly" });
  });

  test("of a value in a file that does not parse, which stays as it is", async () => {
    await writeFile(path, "{ gateway: ");
    await expect(setPort(1)).rejects.toMatchObject({ code: "config-parse" });
    expect(await text()).toBe("{ gateway: ");
    expect(await writeConfig(host, { kind: "replace", raw: base })).toMatchObject({ changed: true });
  });
});

describe("a config of several files", () => {
  const files = async (all: Record<string, string>) => {
    for (const [name, content] of Object.entries(all)) await writeFile(join(dir, name), content);
  };

  test("is changed in the one that is included alone, with its own backup", async () => {
    const gateway = '// gateway\n{ mode: "local", port: 1 }\n';
    await files({ "svc.json": '{ gateway: { $include: "./gw.json5" } }', "gw.json5": gateway });
    expect(await setPort(2)).toMatchObject({ file: join(dir, "gw.json5"), changedPaths: ["gateway.port"] });
    expect(await text("gw.json5")).toBe(gateway.replace("port: 1", "port: 2"));
    expect(await text()).toBe('{ gateway: { $include: "./gw.json5" } }');
    expect(await names()).toEqual(["gw.json5", "gw.json5.bak", "svc.json"]);
  });

  test.each([
    [
      "merged from a list",
      '{ $include: ["./a.json5", "./b.json5"] }',
      /gateway\.port: is merged from a list of includes; edit b\.json5 by hand/,
    ],
    [
      "set beside an include that has it too",
      '{ $include: "./a.json5", gateway: { port: 3 } }',
      /gateway\.port: overrides an included value; edit svc\.json by hand/,
    ],
  ])("is left alone where a value is %s", async (_, main, message) => {
    await files({ "svc.json": main, "a.json5": '{ gateway: { mode: "local", port: 1 } }', "b.json5": "{ gateway: { port: 2 } }" });
    await expect(setPort(9)).rejects.toMatchObject({ code: "config-owned-elsewhere", message: expect.stringMatching(message) });
  });

  test("is not changed in two of them by one write", async () => {
    await files({ "svc.json": '{ gateway: { $include: "./gw.json5" } }', "gw.json5": '{ mode: "local" }' });
    const both = (source: unknown) => withValueAt(withValueAt(source, ["gateway", "port"], 1), ["logging", "level"], "warn");
    await expect(writeConfig(host, { kind: "edit", apply: both })).rejects.toMatchObject({ code: "config-owned-elsewhere" });
  });

  test("is validated as a whole before one of them is written", async () => {
    await files({ "svc.json": '{ gateway: { $include: "./gw.json5" } }', "gw.json5": '{ mode: "local" }' });
    await expect(set(["gateway", "port"], "x")).rejects.toMatchObject({ code: "config-rejected" });
    expect(await text("gw.json5")).toBe('{ mode: "local" }');
  });
});

describe("the lock", () => {
  const lock = () => join(dir, "svc.json.lock");
  const dead = { pid: 2 ** 22 - 3, startTime: "1", createdAt: 1 };

  test("lets one writer at a time in, and is gone afterwards", async () => {
    await writeFile(path, base);
    let inside = 0;
    let most = 0;
    setFailpoint(async (name) => {
      if (name === "config.after-lock") most = Math.max(most, ++inside);
      if (name === "config.after-sync") inside -= 1;
    });
    await Promise.all([1, 2, 3, 4].map((port) => setPort(port)));
    expect(most).toBe(1);
    expect(await names()).not.toContain("svc.json.lock");
  });

  test("is the same for every name of a file: no update is lost between a link and what it leads to", async () => {
    const real = join(dir, "real");
    await mkdir(real);
    await writeFile(join(real, "there.json"), base);
    await writeFile(join(real, "there.json.tmp-99-0a1b2c3d"), "left by one that died");
    await symlink("real/there.json", path);
    await symlink("real", join(dir, "also"));
    const hosts = [path, join(real, "there.json"), join(dir, "also/there.json")].map(
      (name): ConfigWriterHost => ({
        ...{ path: name, readonly: false },
        load: (overlay) => loadConfig(name, { env: {}, overlay, secrets: "none" }),
      }),
    );
    const marks = Array.from({ length: 15 }, (_, i) => `MARK_${i}`);
    const write = (name: string, i: number) =>
      writeConfig(hosts[i % 3] as ConfigWriterHost, { kind: "edit", apply: (source) => withValueAt(source, ["env", "vars", name], "x") });
    await Promise.all(marks.map(write));
    const { env } = parse(await text("real/there.json")) as { env: { vars: Record<string, string> } };
    expect(Object.keys(env.vars).sort()).toEqual([...marks].sort());
    expect((await readdir(real)).filter((name) => /tmp|lock/.test(name))).toEqual([]);
  });

  test("of a living process is waited for, and its owner named in the end", async () => {
    await writeFile(path, base);
    await writeFile(lock(), JSON.stringify({ ...dead, pid: process.pid, startTime: null }));
    await utimes(lock(), 1, 1);
    host.lockTimes = { waitMs: 60 };
    await expect(setPort(1)).rejects.toMatchObject({
      code: "config-locked",
      message: expect.stringMatching(new RegExp(`pid ${process.pid}`)),
    });
    expect(await text()).toBe(base);
  });

  test.each([
    ["of a dead process", JSON.stringify(dead)],
    ["that nobody can read", "{"],
  ])("%s is taken over after ten seconds, not before", async (_, content) => {
    await writeFile(path, base);
    await writeFile(lock(), content);
    host.lockTimes = { waitMs: 60 };
    await expect(setPort(1)).rejects.toMatchObject({ code: "config-locked" });
    const elevenSecondsAgo = new Date(Date.now() - 11_000);
    await utimes(lock(), elevenSecondsAgo, elevenSecondsAgo);
    expect(await setPort(1)).toMatchObject({ changed: true });
    expect(await names()).toEqual(["svc.json", "svc.json.bak"]);
  });
});

describe("a fault", () => {
  const points = ["after-lock", "before-write", "after-write", "after-fsync", "after-backup", "after-rename", "after-sync", "before-reply"];

  test("has a name for each step", async () => {
    await writeFile(path, base);
    const seen: string[] = [];
    setFailpoint((name) => void seen.push(name));
    await setPort(1);
    const backup = ["before-write", "after-write", "after-fsync", "after-rename", "after-sync"].map((point) => `file.${point}`);
    const before = (point: string) => (point === "after-backup" ? backup : []);
    expect(seen).toEqual(points.flatMap((point) => [...before(point), `config.${point}`]));
  });

  test.each(points.flatMap((point) => ["ENOSPC", "EROFS", "EIO"].map((code) => [code, point] as const)))(
    "%s at %s leaves a whole file, says what is wrong, and the next write works",
    async (code, point) => {
      await writeFile(path, base);
      setFailpoint((name) => {
        if (name === `config.${point}`) throw Object.assign(new Error(code), { code });
      });
      const reason = { ENOSPC: /disk is full/, EROFS: /read-only/, EIO: /reports an error/ }[code] as RegExp;
      await expect(setPort(1)).rejects.toMatchObject({ code: "config-write-failed", message: expect.stringMatching(reason) });
      const isWritten = ["after-rename", "after-sync", "before-reply"].includes(point);
      expect(await text()).toBe(isWritten ? base.replace("18789", "1") : base);
      expect((await names()).filter((name) => !name.startsWith("svc.json.bak"))).toEqual(["svc.json"]);

      setFailpoint(undefined);
      expect(await setPort(2)).toMatchObject({ changed: true });
      expect(await text()).toBe(base.replace("18789", "2"));
    },
  );

  test("that left temp files behind is tidied up by the next writer, and those of writers who wait are not", async () => {
    await writeFile(path, base);
    const old = ["svc.json.tmp-99-0a1b2c3d", "svc.json.lock.0a1b2c3d4e5f.tmp"];
    const kept = ["svc.json.lock.1a1b2c3d4e5f.tmp", "svc.json.tmp-notes"];
    for (const name of [...old, ...kept]) await writeFile(join(dir, name), "x");
    const twoMinutesAgo = new Date(Date.now() - 120_000);
    await utimes(join(dir, old[1] as string), twoMinutesAgo, twoMinutesAgo);
    await setPort(1);
    expect(await names()).toEqual(["svc.json", "svc.json.bak", ...kept].sort());
  });
});

describe("the last-good copy", () => {
  test("is taken byte by byte, and not from a file that holds a placeholder", async () => {
    await writeFile(path, base);
    await saveLastGood(await host.load());
    expect(await text("svc.json.last-good")).toBe(base);
    await writeFile(path, base.replace("port: 18789", 'auth: { token: "__SVC_REDACTED__" }'));
    await saveLastGood(await host.load());
    expect(await text("svc.json.last-good")).toBe(base);
  });

  test("comes back in place of a file that does not load, which is kept", async () => {
    await writeFile(`${path}.last-good`, base);
    await writeFile(path, "{ broken");
    const trial = await restoreLastGood(host, { dryRun: true });
    expect(trial).toMatchObject({ broken: "{ broken", lastGood: base });
    expect(await text()).toBe("{ broken");
    const { rejected } = await restoreLastGood(host);
    expect(await text()).toBe(base);
    expect(await readFile(rejected as string, "utf8")).toBe("{ broken");
  });

  test.each([
    ["the present file is valid", base, base],
    ["there is no such copy", "{ broken", undefined],
    ["it is not valid either", "{ broken", "{ gateway: { port: 'x' } }"],
  ])("stays away when %s", async (reason, present, good) => {
    await writeFile(path, present);
    if (good) await writeFile(`${path}.last-good`, good);
    await expect(restoreLastGood(host)).rejects.toMatchObject({ code: "config-no-last-good", message: expect.stringContaining(reason) });
    expect(await text()).toBe(present);
  });
});
