import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Assets } from "./assets.ts";
import { errors } from "./errors.ts";

export interface Page {
  readonly html: string;
  /** Strong, without quotes. */
  readonly etag: string;
  readonly csp: string;
}

const ENTRY = "main.js";

/**
 * Fills `index.html` for one build and one base path.
 * @param basePath as configured: `/`, or `/ui` without a trailing slash
 * @param importNames bare name → asset path
 * @throws {SvcError} `ui-files-missing` when a boot module imports something that is not served
 */
export function renderPage(
  template: string,
  assets: Assets,
  options: { basePath: string; importNames: Readonly<Record<string, string>> },
): Page {
  const base = options.basePath === "/" ? "/" : `${options.basePath}/`;
  const root = `${base}assets/${assets.buildId}/`;
  const imports = Object.fromEntries(Object.entries(options.importNames).map(([name, path]) => [name, root + path]));
  const importMap = JSON.stringify({ imports });
  const preloads = bootModules(assets, options.importNames).map((path) => `<link rel="modulepreload" href="${root}${path}">`);
  const values: Record<string, string> = {
    basePath: options.basePath,
    buildId: assets.buildId,
    root,
    importMap,
    preloads: preloads.join("\n    "),
  };
  const html = template.replace(
    /"\{\{(importMap)\}\}"|\{\{(\w+)\}\}/g,
    (whole, quoted: string, name: string) => values[quoted ?? name] ?? whole,
  );
  return { html, etag: digest(html, "base64url").slice(0, 22), csp: contentSecurityPolicy(digest(importMap, "base64")) };
}

/** The one policy of every answer of this plugin; only the import map may be inline, by its hash. */
function contentSecurityPolicy(importMapHash: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${importMapHash}'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types svc-worker",
  ].join("; ");
}

/** The entry and everything it imports statically, in the order a browser would find it. */
export function bootModules(assets: Assets, importNames: Readonly<Record<string, string>>): string[] {
  const seen = new Set([ENTRY]);
  for (const path of seen) {
    const asset = assets.get(path);
    if (!asset) throw errors.uiFilesMissing({ file: path });
    for (const specifier of staticImports(asset.text)) {
      const target = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : importNames[specifier];
      if (target === undefined) throw errors.uiFilesMissing({ file: `${specifier} (imported by ${path})` });
      seen.add(target);
    }
  }
  return [...seen];
}

/** Specifiers of `import … from "x"`, `import "x"` and `export … from "x"`; dynamic imports are not among them. */
export function staticImports(code: string): string[] {
  const pattern = /(?:^|[;}\n*/])\s*(?:import|export)\s*(?:[\w$*{][^"'();=]*?\bfrom\s*|\{[^}]*\}\s*from\s*)?["']([^"'\n]+)["']/g;
  return [...code.matchAll(pattern)].map((m) => m[1] as string);
}

function digest(text: string, encoding: "base64" | "base64url"): string {
  return createHash("sha256").update(text).digest(encoding);
}
