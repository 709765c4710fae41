import type { Assets } from "./assets.ts";
import type { Page } from "./page.ts";

/** A file that belongs to a build and is made from its other files. */
export interface OfflineFile {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const WORKER = "worker.js";

/** Files that make the page installable and readable without a network, by their names among the assets of the build. Pure. */
export function offlineFiles(assets: Assets, page: Page, base: string): ReadonlyMap<string, OfflineFile> {
  const paths = [...assets.paths.filter((path) => path !== WORKER), "app.webmanifest", "page.html"];
  const worker = assets.get(WORKER)?.text.replace("{{files}}", () => paths.join(" ")) ?? "";
  return new Map<string, OfflineFile>([
    // The worker fetches the files that it keeps; it may act for the page, which stands above it.
    [
      WORKER,
      {
        text: worker,
        headers: {
          "Content-Type": "text/javascript; charset=utf-8",
          "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
          "Service-Worker-Allowed": base,
        },
      },
    ],
    ["page.html", { text: page.html, headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": page.csp } }],
    ["app.webmanifest", { text: manifest(base), headers: { "Content-Type": "application/manifest+json; charset=utf-8" } }],
  ]);
}

/** Web app manifest; addresses are relative to its own place, `<base>assets/<build id>/`. */
function manifest(base: string): string {
  return JSON.stringify({
    id: base,
    name: "svc",
    short_name: "svc",
    start_url: base,
    scope: base,
    display: "standalone",
    icons: [{ src: "icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any" }],
  });
}
