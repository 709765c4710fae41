import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { bestEncoding, createUi } from "./serve.ts";

const pluginRoot = import.meta.dirname;
const ui = createUi(pluginRoot, "/");
const html = { accept: "text/html,application/xhtml+xml" };
const trash: string[] = [];
afterAll(() => Promise.all(trash.map((folder) => rm(folder, { recursive: true, force: true }))));

/** One request as the kernel hands it over: `rest` is the decoded path. */
function ask(path: string, headers: Record<string, string> = {}, { method = "GET", from = ui } = {}): Promise<Response> {
  const url = new URL(`http://gateway.test${path.startsWith("/") ? path : `/${path}`}`);
  const raw = path.split("?", 1)[0]?.slice(1) ?? "";
  return from.answer({ req: new Request(url, { method, headers }), url, rest: decoded(raw) });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function assetPath(name: string): Promise<string> {
  return `/assets/${await ui.buildId()}/${name}`;
}

test("the page comes with its policy, is revalidated each time and carries no secret", async () => {
  const answer = await ask("/", html);

  const page = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
  expect(answer.headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  expect(answer.headers.get("etag")).toMatch(/^"[\w-]{22}"$/);
  expect(page).toContain('data-svc-control-ui-base-path="/"');
  expect(page).not.toContain("{{");
});

test("the only inline script is the import map, allowed by its hash", async () => {
  const answer = await ask("/", html);

  const page = await answer.text();
  const inline = [...page.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)].filter((m) => m[2] !== "");
  const hash = createHash("sha256")
    .update(inline[0]?.[2] ?? "")
    .digest("base64");
  expect(inline.map((m) => m[1])).toEqual([' type="importmap"']);
  expect(answer.headers.get("content-security-policy")).toBe(
    `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; object-src 'none'; form-action 'none'; frame-ancestors 'none'; manifest-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types svc-worker`,
  );
  for (const target of Object.values(JSON.parse(inline[0]?.[2] ?? "{}").imports as Record<string, string>)) {
    expect((await ask(target)).status, target).toBe(200);
  }
});

test("a second visit is one 304, in each encoding", async () => {
  for (const encoding of ["", "gzip", "br"]) {
    const first = await ask("/", { ...html, "accept-encoding": encoding });
    const etag = first.headers.get("etag") ?? "";

    const again = await ask("/", { ...html, "accept-encoding": encoding, "if-none-match": `"other", W/${etag}` });
    const changed = await ask("/", { ...html, "accept-encoding": encoding, "if-none-match": '"other"' });

    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    expect(changed.status).toBe(200);
  }
});

test("page and files are sent compressed to whoever takes it", async () => {
  for (const path of ["/", await assetPath("main.js")]) {
    const plain = await ask(path, html);
    const br = await ask(path, { ...html, "accept-encoding": "gzip, deflate, br" });
    const gz = await ask(path, { ...html, "accept-encoding": "gzip, br;q=0" });

    const text = await plain.text();
    expect(br.headers.get("content-encoding")).toBe("br");
    expect(gz.headers.get("content-encoding")).toBe("gzip");
    expect(brotliDecompressSync(Buffer.from(await br.arrayBuffer())).toString()).toBe(text);
    expect(gunzipSync(Buffer.from(await gz.arrayBuffer())).toString()).toBe(text);
  }
});

test.each([
  [null, "identity"],
  ["", "identity"],
  ["br", "br"],
  ["gzip, deflate", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["*, br;q=0.0", "gzip"],
])("Accept-Encoding %s → %s", (header, wanted) => {
  expect(bestEncoding(header)).toBe(wanted);
});

test("files of this build never change, files of another build are gone", async () => {
  const now = await ask(await assetPath("views/overview.js"));
  const old = await ask("/assets/AAAAAAAAAAAA/main.js", html);

  expect(now.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(now.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(await now.text()).not.toContain("sourceMappingURL");
  expect(old.status).toBe(404);
});

test("a build has a worker that may act for the page and keeps this build's files, the page as a file, and a manifest", async () => {
  const below = createUi(pluginRoot, "/ui");
  const id = await below.buildId();
  const file = (name: string) => ask(`/ui/assets/${id}/${name}`, {}, { from: below });
  const [worker, page, manifest] = await Promise.all(["worker.js", "page.html", "app.webmanifest"].map(file));
  expect([worker, page, manifest].map((answer) => answer?.headers.get("cache-control"))).toEqual(
    Array(3).fill("public, max-age=31536000, immutable"),
  );

  expect(worker?.headers.get("service-worker-allowed")).toBe("/ui/");
  expect(worker?.headers.get("content-security-policy")).toContain("default-src 'none'; connect-src 'self'");
  const files = /const files = "([^"]*)"/.exec((await worker?.text()) ?? "")?.[1]?.split(" ") ?? [];
  expect(files).toEqual(
    expect.arrayContaining(["main.js", "page.css", "vendor/preact.js", "views/overview.js", "page.html", "app.webmanifest"]),
  );
  expect(files).not.toContain("worker.js");
  for (const name of files) expect((await file(name)).status, name).toBe(200);
  expect(await page?.text()).toBe(await (await ask("/ui/", html, { from: below })).text());
  expect(page?.headers.get("content-security-policy")).toContain("trusted-types svc-worker");
  expect(manifest?.headers.get("content-type")).toBe("application/manifest+json; charset=utf-8");
  expect(JSON.parse((await manifest?.text()) ?? "")).toMatchObject({
    name: "svc",
    start_url: "/ui/",
    scope: "/ui/",
    display: "standalone",
  });
});

test("HEAD answers as GET would, without a body", async () => {
  for (const path of ["/", await assetPath("main.js")]) {
    const get = await ask(path, html);
    const head = await ask(path, html, { method: "HEAD" });

    expect(head.headers.get("content-length")).toBe(String((await get.arrayBuffer()).byteLength));
    expect(await head.text()).toBe("");
  }
});

test("an unknown path is the page for a browser, and nothing for anybody else", async () => {
  expect((await ask("/somewhere/deep", html)).status).toBe(200);
  expect((await ask("/somewhere/deep")).status).toBe(404);
  expect((await ask("/missing.js", html)).status).toBe(404);
  expect((await ask("/favicon.ico", html)).status).toBe(404);
});

test("no path leaves the map of files", async () => {
  const id = await ui.buildId();
  const hostile = ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..\\", "..%5c", "%252e%252e%252f", "....//", "%00", "%zz", "//"];
  const targets = ["etc/passwd", "svc.json", "package.json", "index.ts", "svc.plugin.json", "serve.ts"];
  for (const prefix of ["/", "/assets/", `/assets/${id}/`, `/assets/${id}/core/`]) {
    for (const step of hostile) {
      for (const target of targets) {
        const answer = await ask(`${prefix}${step.repeat(3)}${target}`, html);
        expect(answer.status, prefix + step + target).toBe(404);
      }
    }
  }
  for (const name of [
    "index.html",
    "../index.ts",
    "sdk/client/index.js",
    "sdk/client/node-socket.js",
    "sdk/client/node-device.js",
    "sdk/client/core.d.ts",
    "main.js/",
  ]) {
    expect((await ask(`/assets/${id}/${name}`)).status, name).toBe(404);
  }
});

test("below a base path everything carries it, and the bare path leads there with its query", async () => {
  const below = createUi(pluginRoot, "/ui");

  const bare = await ask("/ui?x=1", html, { from: below });
  const page = await ask("/ui/", html, { from: below });
  const text = await page.text();

  expect([bare.status, bare.headers.get("location")]).toEqual([302, "/ui/?x=1"]);
  expect(text).toContain('data-svc-control-ui-base-path="/ui"');
  expect(text).toContain(`src="/ui/assets/${await below.buildId()}/main.js"`);
  expect((await ask(`/ui/assets/${await below.buildId()}/main.js`, {}, { from: below })).status).toBe(200);
  expect((await ask("/uix", html, { from: below })).status).toBe(404);
});

test("without the built client the answer is 503 with the command, and the next request tries again", async () => {
  const copy = await mkdtemp(join(tmpdir(), "svc-ui-"));
  trash.push(copy);
  const plugin = join(copy, "plugins/control-ui");
  await mkdir(plugin, { recursive: true });
  await cp(join(pluginRoot, "public"), join(plugin, "public"), { recursive: true });
  await symlink(join(pluginRoot, "../../node_modules"), join(copy, "node_modules"));
  const incomplete = createUi(plugin, "/");

  const before = await ask("/", html, { from: incomplete });
  await mkdir(join(copy, "dist/sdk"), { recursive: true });
  for (const folder of ["client", "protocol"]) {
    await cp(join(pluginRoot, "../../dist/sdk", folder), join(copy, "dist/sdk", folder), { recursive: true });
  }
  const after = await ask("/", html, { from: incomplete });

  expect(before.status).toBe(503);
  expect(before.headers.get("retry-after")).toBe("5");
  expect(await before.text()).toContain("npm run build");
  expect(after.status).toBe(200);
});
