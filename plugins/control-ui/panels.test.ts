import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPanelFolder } from "./panel-folder.ts";
import { createPanelFiles, type ListedPanel, tabsOf } from "./panels.ts";
import { createUi } from "./serve.ts";

let root: string;
let listed: Array<{ owner: string; value: ListedPanel }>;
const warnings: string[] = [];
const panels = createPanelFiles(
  () => listed,
  (message) => warnings.push(message),
);
const uis = { "/": createUi(import.meta.dirname, "/", panels), "/ui": createUi(import.meta.dirname, "/ui", panels) };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-panels-"));
  await mkdir(join(root, "lamp/panel/img"), { recursive: true });
  await writeFile(join(root, "secret.html"), "secret");
  await writeFile(join(root, "lamp/index.ts"), "secret");
  await writeFile(join(root, "lamp/svc.plugin.json"), "{}");
  for (const [name, text] of Object.entries({
    "index.html": "<p>Lamp</p>",
    "main.js": "1;",
    "img/a.png": "png",
    "notes.txt": "private",
    ".hidden.js": "private",
    "data.json": "private",
  }))
    await writeFile(join(root, "lamp/panel", name), text);
  await symlink(join(root, "secret.html"), join(root, "lamp/panel/link.html"));
  await symlink(root, join(root, "lamp/panel/away"));
  const frame = (folder: string): ListedPanel => ({ id: "draw", label: "Draw", surface: "tab", kind: "frame", folder });
  listed = [
    { owner: "lamp", value: frame(join(root, "lamp/panel")) },
    { owner: "data-only", value: { id: "d", label: "D", surface: "widget", kind: "data" } },
    { owner: "linked", value: frame(join(root, "linked/panel")) },
    { owner: "empty", value: frame(join(root, "empty/panel")) },
  ];
  await mkdir(join(root, "linked"));
  await symlink(join(root, "lamp/panel"), join(root, "linked/panel"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** One request as the kernel hands it over: `rest` is the decoded path. */
function ask(path: string, { base = "/" as keyof typeof uis, method = "GET" } = {}): Promise<Response> {
  const url = new URL(`http://gateway.test${path}`);
  let rest = path.slice(1);
  try {
    rest = decodeURIComponent(rest);
  } catch {
    // It stays as it came, as the kernel does it.
  }
  return uis[base].answer({ req: new Request(url, { method, headers: { accept: "text/html" } }), url, rest });
}

describe("a frame's file", () => {
  test.each([
    ["/", "/panel/lamp/index.html", "text/html; charset=utf-8", "<p>Lamp</p>"],
    ["/", "/panel/lamp/main.js", "text/javascript; charset=utf-8", "1;"],
    ["/ui", "/ui/panel/lamp/img/a.png", "image/png", "png"],
  ] as const)("comes below %s with exactly the policy of a sandbox: %s", async (base, path, type, body) => {
    const answer = await ask(path, { base });
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, type, body]);
    expect(answer.headers.get("content-security-policy")).toBe(
      "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    );
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("cross-origin-opener-policy")).toBeNull();
  });

  test("is announced by HEAD without a body", async () => {
    const answer = await ask("/panel/lamp/index.html", { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "11", ""]);
  });
});

test("nothing but the plain files of a kind that panels load is served, whatever the path", async () => {
  const steps = ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..\\", "..%5c", "%252e%252e%252f", "....//", "%00", "%zz", "//", "./"];
  const targets = ["secret.html", "lamp/index.ts", "index.ts", "svc.plugin.json", "etc/passwd", "panel/index.html"];
  for (const step of steps)
    for (const target of targets)
      for (const prefix of ["/panel/", "/panel/lamp/", "/panel/lamp/img/"]) {
        // Steps of a plain path are gone before a request leaves its client; the kernel hands over whatever it got.
        const path = `${prefix}${step.repeat(2)}${target}`;
        const answer = await uis["/"].answer({
          req: new Request("http://gateway.test/"),
          url: new URL("http://gateway.test/"),
          rest: path.slice(1),
        });
        expect([404, 503].includes(answer.status), path).toBe(true);
        expect(await answer.text(), path).not.toMatch(/secret|Lamp/);
      }
  const others = [
    "link.html",
    "away/secret.html",
    "away/lamp/panel/index.html",
    ".hidden.js",
    "notes.txt",
    "data.json",
    "img",
    "img/",
    "",
    "INDEX.HTML",
  ];
  for (const name of others) expect((await ask(`/panel/lamp/${name}`)).status, name).toBe(404);
  for (const path of [
    "/panel/",
    "/panel/lamp",
    "/panel//index.html",
    "/panel/data-only/index.html",
    "/panel/none/index.html",
    "/panel/linked/index.html",
  ])
    expect((await ask(path)).status, path).toBe(404);
  expect((await ask("/panel/empty/index.html")).status).toBe(404);
});

test("a plugin that is gone serves nothing, and one that is loaded anew serves its new files", async () => {
  const [lamp] = listed;
  await writeFile(join(root, "lamp/panel/main.js"), "2;");
  expect(await (await ask("/panel/lamp/main.js")).text()).toBe("1;");
  listed = listed.map((one) => (one === lamp ? { ...one, value: { ...one.value } } : one));
  expect(await (await ask("/panel/lamp/main.js")).text()).toBe("2;");
  listed = listed.filter(({ owner }) => owner !== "lamp");
  expect((await ask("/panel/lamp/main.js")).status).toBe(404);
});

test("a folder is bounded in files and bytes, and one beyond that says so in the log", async () => {
  const folder = join(root, "lamp/panel");
  const code = "panel-folder-too-large";
  await expect(readPanelFolder(folder, { files: 3, bytes: 1_000 })).rejects.toMatchObject({ code });
  await expect(readPanelFolder(folder, { files: 100, bytes: 13 })).rejects.toMatchObject({ code });
  expect([...(await readPanelFolder(folder, { files: 100, bytes: 16 })).keys()]).toEqual(["img/a.png", "index.html", "main.js"]);
  await mkdir(join(root, "huge/panel"), { recursive: true });
  await writeFile(join(root, "huge/panel/index.html"), new Uint8Array(4_194_305));
  listed = [{ owner: "huge", value: { id: "h", label: "H", surface: "tab", kind: "frame", folder: join(root, "huge/panel") } }];
  expect((await ask("/panel/huge/index.html")).status).toBe(503);
  expect(warnings).toEqual([expect.stringContaining("holds more than 200 files or 4194304 bytes")]);
});

test("tabs are listed for the page before it has a connection, without folders", () => {
  const value: ListedPanel = { id: "draw", label: "Draw", surface: "tab", kind: "frame", icon: "chart", folder: "/x" };
  const all = [
    { owner: "lamp", value },
    { owner: "lamp", value: { ...value, id: "w", surface: "widget" } },
  ];
  expect(tabsOf(all)).toEqual([{ pluginId: "lamp", id: "draw", label: "Draw", kind: "frame", icon: "chart" }]);
});
