import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type TarEntry, tarball } from "../../../test/fakes/tarball.ts";
import type { ContentLimits } from "./limits.ts";
import { unpackArchive } from "./unpack.ts";

let base: string;
let target: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-unpack-"));
  target = join(base, "a/b/target");
  await mkdir(target, { recursive: true });
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function unpack(bytes: Buffer, limits?: Partial<ContentLimits>): Promise<void> {
  const archive = join(base, "plugin.tgz");
  await writeFile(archive, bytes);
  await unpackArchive(archive, target, limits ? { limits: { entries: 10_000, bytes: 268_435_456, ratio: 100, ...limits } } : {});
}

async function empty(): Promise<void> {
  await rm(target, { recursive: true });
  await mkdir(target);
}

const list = async () => (await readdir(target, { recursive: true })).sort();
/** A pax record, with its own length in front. */
function pax(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const length = [1, 2, 3, 4, 5].map((digits) => rest + digits).find((sum) => String(sum).length + rest === sum);
  return `${length} ${key}=${value}\n`;
}

/** A plain archive of one empty file whose header is changed by hand; its checksum is right. */
function withHeader(change: (header: Buffer) => void): Buffer {
  const tar = tarball([{ name: "package/index.ts" }], { gzip: false });
  const header = tar.subarray(0, 512);
  change(header);
  header.write("        ", 148);
  header.write(
    `${header
      .reduce((a, b) => a + b, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return tar;
}

const refused = (reason: string | RegExp) => ({ code: "archive-refused", message: expect.stringMatching(reason) });

const good: TarEntry[] = [
  { name: "package/", type: "5" },
  { name: "package/index.ts", content: "export default 1;" },
  { name: "package/lib/deep/a.json", content: "{}" },
];

describe("files and folders come out", () => {
  test.each([
    ["of a gzipped archive", true],
    ["of a plain one", false],
  ])("%s, private whatever the archive says", async (_, gzip) => {
    await unpack(tarball(good, { gzip }));

    expect(await list()).toEqual(["package", "package/index.ts", "package/lib", "package/lib/deep", "package/lib/deep/a.json"]);
    expect(await readFile(join(target, "package/index.ts"), "utf8")).toBe("export default 1;");
    expect((await stat(join(target, "package/index.ts"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(target, "package/lib"))).mode & 0o777).toBe(0o700);
  });

  test("under a long name that stands in an extended header", async () => {
    const name = `package/${"long/".repeat(30)}file.ts`;
    const line = ` path=${name}\n`;
    const content = `${line.length + String(line.length + 3).length}${line}`;
    await unpack(
      tarball([
        { name: "PaxHeader", type: "x", content },
        { name: "short", content: "x" },
      ]),
    );
    expect(await list()).toContain(name);
  });
});

test("GNU's long names and what git adds are understood", async () => {
  const name = `package/${"long/".repeat(30)}file.ts`;
  const comment = "52 comment=0123456789012345678901234567890123456789\n";
  await unpack(
    tarball([{ name: "pax_global_header", type: "g", content: comment }, { name: "@LongLink", type: "L", content: `${name}\0` }, ...good]),
  );
  expect(await list()).toEqual(expect.arrayContaining([name, "package/index.ts"]));
});

test.each([0, 1, 2, 3])("a long name of any script is understood wherever the pieces of the archive end (%i)", async (shift) => {
  const name = `package/${"a".repeat(shift)}${"長い名前é/".repeat(45)}ファイル.ts`;
  // The first piece that is read, 64 KiB, ends 512 bytes into the header with the name.
  const first = { name: "package/first", content: Buffer.alloc(65_536 - 3 * 512, 1) };
  const long = { name: "h", type: "x", content: pax("path", name) };
  await unpack(tarball([first, long, { name: "short", content: "x" }], { gzip: false }));
  expect(await list()).toContain(name);
});

test("an archive older than POSIX is understood", async () => {
  await unpack(withHeader((header) => header.fill(0, 257, 265)));
  expect(await list()).toEqual(["package", "package/index.ts"]);
});

test("what follows the end is read over, however much it is", async () => {
  const other = tarball([{ name: "package/other.ts", content: "x" }], { gzip: false });
  await unpack(Buffer.concat([tarball(good, { gzip: false }), Buffer.alloc(5_000_000, 7), other]));
  expect(await list()).not.toContain("package/other.ts");
});

describe("the whole archive is refused for", () => {
  test.each<[string, TarEntry, string]>([
    ["a name that leads upwards", { name: "package/../../../outside.ts", content: "x" }, "leads upwards"],
    ["an absolute name", { name: "/tmp/outside.ts", content: "x" }, "absolute name"],
    ["a drive", { name: "C:/outside.ts", content: "x" }, "drive"],
    ["a backslash", { name: "..\\outside.ts", content: "x" }, "backslash"],
    ["a symbolic link", { name: "package/link", type: "2", link: "/etc/passwd" }, "is a symbolic link, not a file"],
    ["a hard link", { name: "package/link", type: "1", link: "package/index.ts" }, "is a hard link"],
    ["a character device", { name: "package/null", type: "3" }, "is a device"],
    ["a block device", { name: "package/disk", type: "4" }, "is a device"],
    ["a FIFO", { name: "package/fifo", type: "6" }, "is a FIFO"],
    ["a name that comes twice", { name: "package/INDEX.ts", content: "x" }, "comes twice"],
    ["a file where a folder stands", { name: "package/lib", content: "x" }, "EEXIST|EISDIR"],
    ["a folder below a file", { name: "package/index.ts/x.ts", content: "x" }, "EEXIST|ENOTDIR"],
  ])("%s", async (_, entry, reason) => {
    await expect(unpack(tarball([...good, entry]))).rejects.toMatchObject(refused(reason));
    expect(await readdir(base)).toEqual(["a", "plugin.tgz"]);
  });

  test("an extended header of more than 64 KiB", async () => {
    const long = { name: "h", type: "x", content: pax("comment", "c".repeat(65_536)) };
    await expect(unpack(tarball([long, ...good]))).rejects.toMatchObject(refused("an extended header of more than 64 KiB"));
  });

  test("a name that leads upwards in an extended header", async () => {
    const evil = tarball([
      { name: "PaxHeader", type: "x", content: "28 path=../../../outside.ts\n" },
      { name: "ok", content: "x" },
    ]);
    await expect(unpack(evil)).rejects.toMatchObject(refused("leads upwards"));
  });

  test.each([
    ["what is no archive", Buffer.from("not an archive ".repeat(100))],
    ["nothing", Buffer.alloc(0)],
    ["an empty archive", tarball([])],
    ["a broken gzip", Buffer.concat([gzipSync(Buffer.alloc(4_000)).subarray(0, 20), Buffer.alloc(100, 7)])],
    ["one that was cut off", tarball(good).subarray(0, 120)],
    ["one that breaks off in its last file", tarball(good, { gzip: false }).subarray(0, -1_400)],
    ["one without its end", tarball(good, { gzip: false }).subarray(0, -1_024)],
    ["a size that is no number", tarball([{ name: "x", content: "x", size: -1 }])],
    ["an entry of an unknown kind", tarball([...good, { name: "sparse", type: "S" }])],
    [
      "an extended header that says its own size",
      tarball([
        { name: "h", type: "x", content: "11 size=99\n" },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "a name for all entries",
      tarball([
        { name: "h", type: "g", content: "13 path=../x\n" },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "a damaged extended header",
      tarball([
        { name: "h", type: "x", content: "99 path=x\n" },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "a size for all entries",
      tarball([
        { name: "h", type: "g", content: pax("size", "0") },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "a record hidden in the value of another",
      tarball([
        { name: "h", type: "x", content: pax("comment", `a\n${pax("path", "package/other")}`) },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "a record whose length begins with 0",
      tarball([
        { name: "h", type: "x", content: "010 path=x\n" },
        { name: "y", content: "y" },
      ]),
    ],
    [
      "an extended header that is no list of records",
      tarball([
        { name: "h", type: "x", content: "path" },
        { name: "y", content: "y" },
      ]),
    ],
    ["extended headers without end", tarball([...Array(5).fill({ name: "h", type: "x", content: pax("comment", "c") }), ...good])],
    ["an extended header of nothing", tarball([...good, { name: "h", type: "x", content: pax("path", "x") }])],
    ["a size that is blank", withHeader((header) => header.fill(" ", 124, 136))],
    ["a size below 0", withHeader((header) => header.fill(0xff, 124, 136))],
    ["a size beyond all numbers", withHeader((header) => header.fill(0x80, 124, 125).fill(0x7f, 125, 136))],
    ["a size of 8 GiB", withHeader((header) => header.fill(0, 124, 136).fill(0x80, 124, 125).fill(2, 131, 132))],
    ["a wrong checksum", Buffer.from(tarball(good, { gzip: false })).fill("y", 8, 9)],
    ["a file that names the target of a link", tarball([{ name: "package/index.ts", content: "x", link: "/etc/passwd" }])],
    ["an archive that is packed twice", gzipSync(tarball(good))],
    ["a damaged header", Buffer.concat([Buffer.alloc(512, 65), tarball(good, { gzip: false })])],
  ])("%s", async (_, bytes) => {
    await expect(unpack(bytes)).rejects.toMatchObject({ code: "archive-refused" });
  });
});

describe("limits:", () => {
  const many = (count: number): TarEntry[] => Array.from({ length: count }, (_, i) => ({ name: `p/f${i}` }));

  test("entries, folders among them", async () => {
    await unpack(tarball(many(20)), { entries: 20 });
    await empty();
    await expect(unpack(tarball(many(21)), { entries: 20 })).rejects.toMatchObject(refused("more than 20 entries"));
  });

  test("10,000 entries when nobody says otherwise", async () => {
    const folder: TarEntry = { name: "p/", type: "5" };
    await unpack(tarball(Array(10_000).fill(folder)));
    await expect(unpack(tarball(Array(10_001).fill(folder)))).rejects.toMatchObject(refused("more than 10000 entries"));
  });

  test("bytes of all files together", async () => {
    const files: TarEntry[] = ["a", "b"].map((name) => ({ name, content: Buffer.alloc(500, 1) }));
    await unpack(tarball(files, { gzip: false }), { bytes: 10_000 });
    await empty();
    await expect(unpack(tarball([...files, { name: "c", content: Buffer.alloc(9_001, 1) }]), { bytes: 10_000 })).rejects.toMatchObject(
      refused("holds more than 10000 bytes"),
    );
  });

  test("a bomb: a hundred times its packed size", async () => {
    const bomb = tarball([{ name: "zeros", content: Buffer.alloc(5_000_000) }]);
    expect(bomb.length).toBeLessThan(50_000);
    await expect(unpack(bomb)).rejects.toMatchObject(refused("unpacks to more than 100 times its size"));
    expect((await stat(join(target, "zeros"))).size).toBeLessThan(bomb.length * 100 + 100_000);
  });

  test("a bomb of nothing but padding", async () => {
    const padding = gzipSync(Buffer.concat([tarball(good, { gzip: false }), Buffer.alloc(40_000_000)]));
    await expect(unpack(padding, { bytes: 1_000_000 })).rejects.toMatchObject(refused("unpacks to more than"));
  });
});

test("a command that was stopped ends as stopped, not as refused", async () => {
  await writeFile(join(base, "plugin.tgz"), tarball(good));
  await expect(unpackArchive(join(base, "plugin.tgz"), target, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: "AbortError",
  });
});
