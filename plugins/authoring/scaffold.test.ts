import { lstat, mkdir, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Manifest, SDK_API_VERSION } from "svc/sdk";
import { createTestGateway, fakeModel } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { linkHost, withHostDependency } from "./host-link.ts";
import { kinds, namesOf } from "./kinds.ts";
import { scaffold } from "./scaffold.ts";

const packageRoot = join(import.meta.dirname, "../..");
const make = (id: string, kind: (typeof kinds)[number]) => scaffold({ id, kind, packageRoot, version: "1.2.3" });

describe.each(kinds)("a new plugin of kind %s", (kind) => {
  test("has a manifest of its id, sources, a contract test and what an editor needs", async () => {
    const files = new Map((await make("my-thing", kind)).map((f) => [f.path, f.text]));

    expect([...files.keys()]).toEqual(
      expect.arrayContaining([
        ".gitignore",
        "README.md",
        "package.json",
        "src/contract.test.ts",
        "src/index.ts",
        "svc.plugin.json",
        "tsconfig.json",
      ]),
    );
    expect(JSON.parse(files.get("svc.plugin.json") as string) as Manifest).toMatchObject({ id: "my-thing", entry: "src/index.ts" });
    expect(JSON.parse(files.get("package.json") as string)).toMatchObject({
      name: "my-thing",
      devDependencies: { svc: `file:${packageRoot.replace(/\/$/, "")}` },
    });
    expect(files.get("package.json")).not.toContain("peerDependencies");
    expect(files.get(".npmrc")).toContain("ignore-scripts=true");
    expect(files.get("README.md")).toContain("# my-thing");
  });

  test("has no field left open, and no name of where it comes from", async () => {
    const text = (await make("my-thing", kind)).map((f) => `${f.path}\n${f.text}`).join("\n");

    expect(text).not.toMatch(/\{\{|\.tmpl|channel-lines|"lines"|embed-hashing|"hashing"/);
  });
});

test("a new preset of webhooks answers as soon as its name is switched on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-preset-"));
  for (const { path, text } of await make("hook-preset-parcel", "hook-preset")) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const token = "hook-token-of-this-test-0123456789";
  const gateway = await createTestGateway({
    plugins: ["store", "agents", "webhooks", folder],
    models: [fakeModel(["Noted."])],
    config: { hooks: { enabled: true, token, presets: ["parcel"] } },
  });
  try {
    const post = (body: object) =>
      fetch(`${gateway.url}/hooks/parcel`, { method: "POST", headers: { "x-svc-token": token }, body: JSON.stringify(body) });

    expect((await post({})).status).toBe(204);
    expect(await (await post({ title: "A parcel" })).json()).toEqual({ ok: true, runId: expect.any(String) });
  } finally {
    await gateway.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test.each([
  ["channel-acme-chat", { kindId: "acme-chat", name: "Acme chat", tool: "acme_chat" }],
  ["embed-small", { kindId: "small", name: "Small", tool: "small" }],
  ["weather", { kindId: "weather", name: "Weather", tool: "weather" }],
  ["hook-preset-ci", { kindId: "ci", name: "Ci", tool: "ci" }],
])("%s names what it adds", (id, names) => {
  expect(namesOf(id)).toEqual({ id, ...names });
});

test("the API version is the host's", async () => {
  const index = (await make("weather", "tool")).find((f) => f.path === "src/index.ts")?.text;

  expect(index).toContain(`svc: { api: "^${SDK_API_VERSION}" }`);
});

describe("the link to the host", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-link-"));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("is made, kept, and follows another installation", async () => {
    const other = await mkdtemp(join(folder, "other-"));

    expect(await linkHost(folder, packageRoot)).toBe(true);
    expect(await linkHost(folder, packageRoot)).toBe(true);
    await linkHost(folder, other);

    expect(await readlink(join(folder, "node_modules/svc"))).toBe(other);
  });

  test("never takes the place of an installed package", async () => {
    await mkdir(join(folder, "node_modules/svc"), { recursive: true });
    await writeFile(join(folder, "node_modules/svc/package.json"), "{}");

    expect(await linkHost(folder, packageRoot)).toBe(false);
    expect((await lstat(join(folder, "node_modules/svc"))).isDirectory()).toBe(true);
  });
});

describe("the dependency on this installation", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = async (text: string): Promise<string> => {
    await writeFile(join(folder, "package.json"), text);
    return join(folder, "package.json");
  };
  const change = async (path: string, isPlugin: boolean) => {
    const text = await withHostDependency(path, { packageRoot: "/opt/svc", isPlugin });
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };

  test("makes a package of a folder that is none", async () => {
    expect(await change(join(folder, "package.json"), false)).toEqual({
      private: true,
      type: "module",
      dependencies: { svc: "file:/opt/svc" },
    });
  });

  test("keeps everything else, and stays in its section", async () => {
    const path = await write('{"name":"p","devDependencies":{"a":"1","svc":"file:/elsewhere"},"x":[1]}');
    expect(await change(path, false)).toEqual({ name: "p", devDependencies: { a: "1", svc: "file:/opt/svc" }, x: [1] });
    expect(await change(await write('{"dependencies":{"a":"1"}}'), true)).toEqual({
      dependencies: { a: "1" },
      devDependencies: { svc: "file:/opt/svc" },
    });
    expect(await change(await write('{"devDependencies":{"svc":"file:/opt/svc"}}'), true)).toBeUndefined();
  });

  test.each(["[1]", "{", "null"])("leaves a package.json that holds %s alone, and says so", async (text) => {
    const path = await write(text);
    await expect(change(path, false)).rejects.toMatchObject({ code: "package-unreadable" });
  });
});
