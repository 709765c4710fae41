import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LocalModelSource } from "svc/sdk";
import { createTestRequests } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type ModelHub, startModelHub } from "../../../test/fakes/model-hub.ts";
import { atFailpoints } from "../../../test/fixtures/failpoints.ts";
import { mountDisk, needsDisk, resizeDisk } from "../../../test/servers/small-disk.ts";
import { defaultFolder, modelAddress } from "./model-address.ts";
import { ModelFiles } from "./model-files.ts";

const PATH = "owner/tiny-GGUF/tiny-Q8_0.gguf";
const NAME = "hf_owner_tiny-Q8_0.gguf";
const bytes = (seed: number) => {
  const made = Buffer.alloc(300_000, seed);
  made.write("GGUF");
  return made;
};
const file = bytes(1);
const large = Buffer.concat([file, Buffer.alloc(3_000_000, 3)]);
const sha256 = (of: Buffer) => createHash("sha256").update(of).digest("hex");
const reference = (uri: string) => ({ kind: "reference", uri, name: uri }) as const satisfies LocalModelSource;
const source = reference(`hf:${PATH}`);

let requests: ReturnType<typeof createTestRequests>;
let hub: ModelHub;
let directory: string;
let free: number | undefined;
beforeAll(() => {
  requests = createTestRequests();
});
afterAll(() => requests.close());
beforeEach(async () => {
  hub = await startModelHub({ [PATH]: file });
  directory = await mkdtemp(join(tmpdir(), "svc-download-"));
  free = undefined;
});
afterEach(async () => {
  await hub.close();
  await rm(directory, { recursive: true, force: true });
});

const filesWith = (env: Record<string, string> = {}) =>
  new ModelFiles({ request: requests.request, env: { HF_ENDPOINT: hub.endpoint, ...env }, pauseMs: 1, freeBytes: async () => free });
const never = new AbortController().signal;
const download = (more: Partial<Parameters<ModelFiles["download"]>[0]> = {}, env = {}, signal = never) =>
  filesWith(env).download({ source, directory, ...more }, { signal });
const stored = () => readFile(join(directory, NAME));
const left = () => readdir(directory);

describe("the file of a model", () => {
  test("comes from the host that the hub redirects to, is checked, and takes its place under the name that the library gives it", async () => {
    const seen: number[] = [];
    const how = { signal: never, onProgress: ({ doneBytes }: { doneBytes: number }) => void seen.push(doneBytes) };
    expect(await filesWith().download({ source, directory }, how)).toEqual({ path: join(directory, NAME), bytes: file.length });
    expect((await stored()).equals(file)).toBe(true);
    expect(await left()).toEqual([NAME]);
    expect(hub.requests).toEqual(["hub GET all /owner/tiny-GGUF/resolve/main/tiny-Q8_0.gguf", `cdn GET all /${PATH}`]);
    expect(seen.at(-1)).toBe(file.length);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  test("that is there is not asked for", async () => {
    await writeFile(join(directory, NAME), "here");
    expect(await download()).toMatchObject({ bytes: 4 });
    expect(hub.requests).toEqual([]);
  });

  test("is fetched once for all who want it, and the first to leave does not end it", async () => {
    hub.faults.stallAfter = 1_000;
    const files = filesWith();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaves = files.download({ source, directory }, { signal: first.signal });
    const onProgress = ({ doneBytes }: { doneBytes: number }) => doneBytes > 0 && first.abort(new Error("left"));
    const stays = files.download({ source, directory }, { signal: second.signal, onProgress });
    await expect(leaves).rejects.toThrow("left");
    expect(hub.requests.filter((line) => line.startsWith("hub"))).toHaveLength(1);
    second.abort(new Error("left too"));
    await expect(stays).rejects.toThrow("left too");
  });

  test("of a repository that wants a token is asked for with it, and the token goes to the hub alone", async () => {
    hub.token = "hf_secret";
    await expect(download()).rejects.toThrow(/status code 401: it wants a token \(HF_TOKEN\)/);
    expect(await download({}, { HF_TOKEN: "hf_secret" })).toMatchObject({ bytes: file.length });
  });
});

describe("a download that was cut", () => {
  test("in the middle goes on from there by itself", async () => {
    hub.faults.stallAfter = 100_000;
    let isCut = false;
    const onProgress = ({ doneBytes }: { doneBytes: number }) => {
      if (doneBytes > 0 && !isCut) hub.cut();
      isCut ||= doneBytes > 0;
    };
    await filesWith().download({ source, directory }, { signal: never, onProgress });
    expect((await stored()).equals(file)).toBe(true);
    expect(hub.requests.at(-1)).toMatch(/^cdn GET bytes=[1-9]\d+- /);
  });

  test("again and again gives up, keeps its bytes, and a later process goes on from there", async () => {
    Object.assign(hub.faults, { cutAfter: 0, always: true });
    await expect(download()).rejects.toThrow("the next try goes on from there");
    Object.assign(hub.faults, { cutAfter: 50_000, always: false });
    hub.requests.length = 0;
    await download();
    expect((await stored()).equals(file)).toBe(true);
    expect(await left()).toEqual([NAME]);
  });

  test("by its caller keeps its bytes", async () => {
    hub.faults.stallAfter = 120_000;
    const stop = new AbortController();
    const begun = filesWith().download(
      { source, directory },
      { signal: stop.signal, onProgress: ({ doneBytes }) => doneBytes >= 60_000 && stop.abort(new Error("stopped")) },
    );
    await expect(begun).rejects.toThrow("stopped");
    await expect.poll(left).toEqual([`${NAME}.part`, `${NAME}.part.json`]);
    hub.requests.length = 0;
    await download();
    expect(hub.requests.at(-1)).toMatch(/^cdn GET bytes=[1-9]\d+- /);
    expect((await stored()).equals(file)).toBe(true);
  });

  test("is begun anew when the hub has another file meanwhile", async () => {
    Object.assign(hub.faults, { cutAfter: 100_000, status: undefined });
    const stop = new AbortController();
    await filesWith()
      .download(
        { source, directory },
        { signal: stop.signal, onProgress: ({ doneBytes }) => doneBytes > 0 && stop.abort(new Error("stopped")) },
      )
      .catch(() => undefined);
    const other = bytes(2);
    hub.replace(PATH, other);
    await download();
    expect((await stored()).equals(other)).toBe(true);
  });

  test("goes on with a server that knows no ranges, from its beginning", async () => {
    Object.assign(hub.faults, { cutAfter: 100_000, noRanges: true });
    await download();
    expect((await stored()).equals(file)).toBe(true);
  });

  test("after its last byte is whole: 416 is answered by a look at what is here", async () => {
    const facts = { size: file.length, sha256: sha256(file), etag: sha256(file) };
    await writeFile(join(directory, `${NAME}.part`), file);
    await writeFile(join(directory, `${NAME}.part.json`), JSON.stringify(facts));
    await download();
    expect(hub.requests.at(-1)).toBe(`cdn GET bytes=${file.length}- /${PATH}`);
    expect((await stored()).equals(file)).toBe(true);
  });

  test("longer than the file is begun anew after a 416", async () => {
    await writeFile(join(directory, `${NAME}.part`), Buffer.alloc(file.length + 5));
    await writeFile(join(directory, `${NAME}.part.json`), JSON.stringify({ size: file.length, sha256: sha256(file) }));
    await download();
    expect((await stored()).equals(file)).toBe(true);
  });
});

describe("what is not the model", () => {
  test("by its SHA-256 is not kept, and the message has both", async () => {
    hub.faults.wrongBytes = true;
    await expect(download()).rejects.toThrow(new RegExp(`its SHA-256 is [0-9a-f]{64}, expected ${sha256(file)}; nothing of it was kept`));
    expect(await left()).toEqual([]);
    await download();
  });

  test("by the SHA-256 of the config is refused before it is fetched, where the hub announces another one", async () => {
    await expect(download({ sha256: "0".repeat(64) })).rejects.toThrow(
      `local.sha256 is ${"0".repeat(64)}, and its server announces a file with ${sha256(file)}`,
    );
    expect(await left()).toEqual([]);
    expect(await download({ sha256: sha256(file).toUpperCase() })).toMatchObject({ bytes: file.length });
  });

  test("because a page came in its place says so", async () => {
    hub.replace(PATH, Buffer.from("<html>Sign in to the hotel</html>"));
    await expect(download()).rejects.toThrow("it is no GGUF file; a proxy or a sign-in page");
    expect(await left()).toEqual([]);
  });
});

describe("a disk without room", () => {
  test("in the middle leaves what came, and the next try goes on from there", async () => {
    hub.replace(PATH, large);
    let writes = 0;
    const end = atFailpoints((name) => {
      if (name === "local-runtime.before-write" && ++writes >= 2) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    await expect(download()).rejects.toThrow(/there is no room left on the disk in .*; free some, .* the next try goes on from there/);
    expect(await left()).toEqual([`${NAME}.part`, `${NAME}.part.json`]);
    end();
    await download();
    expect(hub.requests.at(-1)).toMatch(/^cdn GET bytes=[1-9]\d+- /);
    expect((await stored()).equals(large)).toBe(true);
  });

  needsDisk().test("that is really full in the middle is told, and with more room the next try goes on", async () => {
    hub.replace(PATH, large);
    const disk = await mkdtemp(join(tmpdir(), "svc-disk-"));
    const unmount = mountDisk(disk, 1024 * 1024);
    onTestFinished(async () => {
      unmount();
      await rm(disk, { recursive: true });
    });
    await expect(download({ directory: disk })).rejects.toThrow(
      /there is no room left on the disk in .*; free some, .* the next try goes on/,
    );
    resizeDisk(disk, 8 * 1024 * 1024);
    await download({ directory: disk });
    expect(hub.requests.at(-1)).toMatch(/^cdn GET bytes=[1-9]\d+- /);
    expect((await readFile(join(disk, NAME))).equals(large)).toBe(true);
  });

  test("is noticed before anything is written", async () => {
    free = 1_000;
    await expect(download()).rejects.toThrow(`${file.length} bytes are missing and 1000 are free in ${directory}`);
    expect(await left()).toEqual([]);
  });
});

test.each([
  [404, "there is no such file"],
  [403, "it wants a token"],
  [400, "status code 400"],
])("the hub's answer %i is told with what to do, without signatures of addresses", async (status, message) => {
  Object.assign(hub.faults, { status, always: true });
  const error = await download().catch((reason: Error) => reason);
  expect(error).toMatchObject({ code: "model-not-downloaded", message: expect.stringContaining(message) });
  expect((error as Error).message).not.toContain("Signature");
});

test("a hub that is overloaded is asked again", async () => {
  hub.faults.status = 503;
  await download();
  expect(hub.requests.filter((line) => line.startsWith("hub"))).toHaveLength(2);
});

test("a file that another process downloads is left to it; one that is dead leaves it", async () => {
  const lock = join(directory, `${NAME}.part.lock`);
  await writeFile(lock, JSON.stringify({ pid: process.ppid, startTime: null, createdAt: 0 }));
  await expect(download()).rejects.toThrow(`another process (${process.ppid}) is downloading it`);
  await writeFile(lock, JSON.stringify({ pid: 2 ** 22 + 1, startTime: "1", createdAt: 0 }));
  await download();
  expect(existsSync(lock)).toBe(false);
});

test("references become addresses and names by the rules of the hub; what is not one file is left to the library", () => {
  const env = { HF_ENDPOINT: "https://mirror.example/hf" };
  const of = (uri: string) => {
    const found = modelAddress(reference(uri), env);
    return found && [found.url.href, found.fileName];
  };
  expect(of("hf:a/some-GGUF/some-Q4.gguf")).toEqual([
    "https://mirror.example/hf/a/some-GGUF/resolve/main/some-Q4.gguf",
    "hf_a_some-Q4.gguf",
  ]);
  expect(of("huggingface:a/repo/sub/x.gguf#v2")).toEqual([
    "https://mirror.example/hf/a/repo/resolve/v2/sub/x.gguf",
    "hf_a_repo_v2_sub_x.gguf",
  ]);
  expect(of("hf:a/repo/x/x.gguf")?.[1]).toBe("hf_a_repo_x.gguf");
  expect(of("https://files.example/m/x.gguf?token=1")).toEqual(["https://files.example/m/x.gguf?token=1", "x.gguf"]);
  for (const uri of [
    "hf:a/repo",
    "hf:a/repo:Q8_0",
    "hf:a/repo/x-00001-of-00003.gguf",
    "hf:a/../x.gguf",
    "hf:a/b/.x.gguf",
    "https://files.example/m/x.bin",
    "https://mirror.example/a/b",
  ])
    expect([uri, of(uri)]).toEqual([uri, undefined]);
  expect(defaultFolder()).toMatch(/\.node-llama-cpp[\\/]models$/);
});
