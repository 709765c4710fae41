import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { type HttpCall, isSvcError, messageOf } from "svc/sdk";
import { type Asset, type Assets, type Encoding, loadAssets, pack } from "./assets.ts";
import { errors } from "./errors.ts";
import { type OfflineFile, offlineFiles } from "./offline.ts";
import { type Page, renderPage } from "./page.ts";
import type { PanelFiles } from "./panels.ts";
import { importNames, uiSources } from "./sources.ts";

const strictHeaders = { "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin" };
const bareCsp = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Endings of files; a miss with one of these is a 404 and never the page. */
const fileExtensions = new Set(
  ".js .mjs .css .svg .ico .png .jpg .jpeg .gif .webp .avif .woff .woff2 .ttf .map .json .txt .xml .webmanifest .wasm .html .htm .php".split(
    " ",
  ),
);

export interface Ui {
  /** Answers GET and HEAD below the base path. */
  answer(call: Pick<HttpCall, "req" | "rest" | "url">): Promise<Response>;
  /** Undefined until the files could be read. */
  buildId(): Promise<string | undefined>;
}

interface Built {
  assets: Assets;
  page: Page;
  /** Files beside the assets that an installed page needs. */
  offline: ReadonlyMap<string, OfflineFile>;
}

const IMMUTABLE = "public, max-age=31536000, immutable";

/**
 * The page and its files, read at first use and kept.
 * @param basePath as configured: `/`, or `/ui` without a trailing slash
 * @param panels files of frames that plugins show
 */
export function createUi(pluginRoot: string, basePath: string, panels?: PanelFiles): Ui {
  const base = basePath === "/" ? "/" : `${basePath}/`;
  const packed = new Map<string, Promise<Uint8Array>>();
  let built: Promise<Built> | undefined;

  async function build(): Promise<Built> {
    const [assets, template] = await Promise.all([loadAssets(uiSources(pluginRoot)), readTemplate(pluginRoot)]);
    const page = renderPage(template, assets, { basePath, importNames });
    return { assets, page, offline: offlineFiles(assets, page, base) };
  }

  function ready(): Promise<Built> {
    built ??= build().catch((error: unknown) => {
      // Not kept: after `npm run build` the next request finds the files.
      built = undefined;
      throw error;
    });
    return built;
  }

  async function answer(call: Pick<HttpCall, "req" | "rest" | "url">): Promise<Response> {
    const path = `/${call.rest}`;
    if (isHostile(path)) return notFound();
    if (base !== "/" && path === basePath) return redirect(`${base}${call.url.search}`);
    if (!path.startsWith(base)) return notFound();
    if (panels && path.startsWith(`${base}panel/`)) return panels.answer(path.slice(base.length + "panel/".length), call.req);
    try {
      const { assets, page, offline } = await ready();
      const name = path.slice(base.length);
      const made = name.startsWith(`assets/${assets.buildId}/`) ? offline.get(name.split("/").slice(2).join("/")) : undefined;
      if (made) return send(call.req, Buffer.from(made.text), { ...made.headers, "Cache-Control": IMMUTABLE });
      if (name.startsWith("assets/")) return await asset(assets, name, call.req);
      if (name !== "" && name !== "index.html" && !wantsPage(name, call.req)) return notFound();
      return await sendPage(page, call.req, packed);
    } catch (error) {
      if (!isSvcError(error, "ui-files-missing")) throw error;
      return plain(503, `${messageOf(error)}\n`, { "Retry-After": "5" });
    }
  }

  return { answer, buildId: async () => (await ready().catch(() => undefined))?.assets.buildId };
}

async function readTemplate(pluginRoot: string): Promise<string> {
  const file = join(pluginRoot, "public/index.html");
  return readFile(file, "utf8").catch((cause: unknown) => {
    throw errors.uiFilesMissing({ file: "index.html" }, { cause });
  });
}

/** `rest` arrives decoded; what still holds a percent sign could not be, or was encoded twice. */
function isHostile(path: string): boolean {
  return path.includes("\0") || path.includes("\\") || path.includes("%") || path.includes("//") || path.split("/").includes("..");
}

function wantsPage(name: string, req: Request): boolean {
  return !fileExtensions.has(extname(name).toLowerCase()) && (req.headers.get("accept") ?? "").includes("text/html");
}

async function asset(assets: Assets, name: string, req: Request): Promise<Response> {
  const [, id, ...rest] = name.split("/");
  const found: Asset | undefined = id === assets.buildId ? assets.get(rest.join("/")) : undefined;
  if (!found) return notFound();
  const encoding = bestEncoding(req.headers.get("accept-encoding"));
  const body = await found.body(encoding);
  return send(req, body, { "Content-Type": found.type, "Cache-Control": IMMUTABLE, ...encoded(encoding) });
}

async function sendPage(page: Page, req: Request, packed: Map<string, Promise<Uint8Array>>): Promise<Response> {
  const encoding = bestEncoding(req.headers.get("accept-encoding"));
  const etag = `"${page.etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  const headers = { "Cache-Control": "no-cache", ETag: etag, "Content-Security-Policy": page.csp, ...encoded(encoding) };
  if (matches(req.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers: { ...strictHeaders, ...headers } });
  const bytes = Buffer.from(page.html);
  let body = packed.get(etag);
  if (!body) {
    body = encoding === "identity" ? Promise.resolve(bytes) : pack(bytes, encoding);
    packed.set(etag, body);
  }
  return send(req, await body, { "Content-Type": "text/html; charset=utf-8", ...headers });
}

function send(req: Request, body: Uint8Array, headers: Record<string, string>): Response {
  const all = { "Content-Security-Policy": bareCsp, ...strictHeaders, ...headers, "Content-Length": String(body.byteLength) };
  return new Response(req.method === "HEAD" ? null : new Uint8Array(body), { headers: all });
}

function encoded(encoding: Encoding): Record<string, string> {
  return { Vary: "Accept-Encoding", ...(encoding === "identity" ? {} : { "Content-Encoding": encoding }) };
}

/** The smallest form the client takes; `q=0` refuses one. */
export function bestEncoding(header: string | null): Encoding {
  const refused = new Set<string>();
  const offered = new Set<string>();
  for (const part of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((s) => s.trim());
    const zero = parameters.some((p) => /^q=0(\.0*)?$/.test(p));
    (zero ? refused : offered).add(name);
  }
  const takes = (name: string) => !refused.has(name) && (offered.has(name) || offered.has("*"));
  return takes("br") ? "br" : takes("gzip") ? "gzip" : "identity";
}

/** Weak comparison, as `If-None-Match` asks for (RFC 9110 13.1.2). */
function matches(header: string | null, etag: string): boolean {
  return (header ?? "").split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

function redirect(location: string): Response {
  return plain(302, "", { Location: location, "Cache-Control": "no-cache" });
}

function notFound(): Response {
  return plain(404, "Not Found", { "Cache-Control": "no-store" });
}

function plain(status: number, body: string, headers: Record<string, string>): Response {
  const all = { "Content-Type": "text/plain; charset=utf-8", "Content-Security-Policy": bareCsp, ...strictHeaders, ...headers };
  return new Response(body, { status, headers: all });
}
