import { messageOf } from "svc/sdk";
import { type PanelFile, readPanelFolder } from "./panel-folder.ts";

/** Panel that a plugin registered, as the gateway keeps it. */
export interface ListedPanel {
  readonly id: string;
  readonly label: string;
  readonly surface: string;
  readonly kind: "data" | "frame";
  readonly icon?: string;
  /** Kind `frame`: absolute path of the folder that holds its files. */
  readonly folder?: string;
}

type Listed = Iterable<{ readonly owner: string; readonly value: ListedPanel }>;

/** Policy of every file of a frame. Its sandbox gives the document an origin of its own: no storage, no parent, no network but these files. */
const FRAME_CSP =
  "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** Serves the files below `panel/` of plugins that show a frame now. */
export interface PanelFiles {
  /** @param path what follows `<base>panel/`: `<pluginId>/<file>` */
  answer(path: string, req: Request): Promise<Response>;
}

/** @param warn told of a folder that cannot be served */
export function createPanelFiles(listed: () => Listed, warn: (message: string) => void): PanelFiles {
  /** Read once per registration: a plugin that is loaded anew shows its new files. */
  const read = new WeakMap<ListedPanel, Promise<ReadonlyMap<string, PanelFile>>>();
  const filesOf = (panel: ListedPanel, folder: string) => {
    const known = read.get(panel) ?? readPanelFolder(folder);
    read.set(panel, known);
    known.catch((error: unknown) => {
      if (read.get(panel) === known) warn(messageOf(error));
      read.delete(panel);
    });
    return known;
  };
  return {
    async answer(path, req) {
      const cut = path.indexOf("/");
      const [plugin, name] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)];
      const found = [...listed()].find(({ owner, value }) => owner === plugin && value.kind === "frame" && value.folder);
      if (!found?.value.folder) return text(req, 404, "There is no such panel.\n");
      let file: PanelFile | undefined;
      try {
        file = (await filesOf(found.value, found.value.folder)).get(name);
      } catch {
        return text(req, 503, "The files of this panel cannot be served; the log of the gateway says why.\n");
      }
      return file ? send(req, 200, file) : text(req, 404, "There is no such file.\n");
    },
  };
}

/** Panels that have a place of their own in the page. */
export function tabsOf(listed: Listed): Array<{ pluginId: string; id: string; label: string; kind: string; icon?: string }> {
  return [...listed]
    .filter(({ value }) => value.surface === "tab")
    .map(({ owner, value: { id, label, kind, icon } }) => ({ pluginId: owner, id, label, kind, ...(icon === undefined ? {} : { icon }) }));
}

function text(req: Request, status: number, message: string): Response {
  return send(req, status, { type: "text/plain; charset=utf-8", body: new TextEncoder().encode(message) });
}

function send(req: Request, status: number, { type, body }: PanelFile): Response {
  const headers = {
    "Content-Type": type,
    "Content-Length": String(body.byteLength),
    "Content-Security-Policy": FRAME_CSP,
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": status === 200 ? "no-cache" : "no-store",
  };
  return new Response(req.method === "HEAD" ? null : body, { status, headers });
}
