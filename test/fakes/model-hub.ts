import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Faults of the next answers; each is over once it has happened, unless `always`. */
export interface HubFaults {
  /** The connection to the host of the file ends after so many bytes of an answer; a client may not have read all of them by then. */
  cutAfter?: number | undefined;
  /** Bytes that are sent are not those that the hub has announced. */
  wrongBytes?: boolean | undefined;
  /** Ranges are ignored: the whole file is sent with 200. */
  noRanges?: boolean | undefined;
  /** The hub answers so. */
  status?: number | undefined;
  /** The host of the file sends so many bytes and then nothing more. */
  stallAfter?: number | undefined;
  always?: boolean | undefined;
}

/** A hub of models, and the host that it keeps its files on: two servers, as the public one has it. */
export interface ModelHub {
  /** For `HF_ENDPOINT`. */
  readonly endpoint: string;
  /** Requests in order: `hub GET /owner/…`, `cdn GET bytes=5- /…`. */
  readonly requests: string[];
  readonly faults: HubFaults;
  /** Repositories that want this token. */
  token: string | undefined;
  /** The file has other bytes from now on. */
  replace(path: string, bytes: Buffer): void;
  /** Connections to the host of the files break. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Starts a hub with these files, by `<owner>/<repo>/<path>`. As the public hub does, it answers `…/resolve/main/<path>` with 302 to another host and announces
 * size, commit and SHA-256 there; the other host knows ranges. It throws at `close` for requests that the public one would not take.
 */
export async function startModelHub(files: Record<string, Buffer>): Promise<ModelHub> {
  const held = new Map(Object.entries(files));
  const requests: string[] = [];
  const faults: HubFaults = {};
  const problems: string[] = [];
  let token: string | undefined;

  const cdn = await listen((req, res) => {
    requests.push(`cdn ${req.method} ${req.headers.range ?? "all"} ${pathOf(req)}`);
    if (req.headers.authorization !== undefined) problems.push("the token of the hub was sent to the host of its files");
    if (!new URL(req.url ?? "", "http://x").searchParams.has("Signature")) return void res.writeHead(403).end("no signature");
    sendFile(req, res, { bytes: held.get(pathOf(req).slice(1)), faults });
  });
  const hub = await listen((req, res) => {
    requests.push(`hub ${req.method} ${req.headers.range ?? "all"} ${pathOf(req)}`);
    const status = faults.status;
    if (status !== undefined) {
      if (!faults.always) delete faults.status;
      return void res.writeHead(status).end("fault");
    }
    if (token !== undefined && req.headers.authorization !== `Bearer ${token}`)
      return void res.writeHead(401).end("Invalid username or password.");
    const [, owner, repo, , , ...rest] = pathOf(req).split("/");
    const path = [owner, repo, ...rest].join("/");
    const bytes = held.get(path);
    if (!bytes) return void res.writeHead(404).end("Entry not found");
    res.writeHead(302, {
      location: `${originOf(cdn)}/${path}?X-Amz-Expires=3600&Signature=${"s".repeat(40)}`,
      "x-repo-commit": "0".repeat(40),
      "accept-ranges": "bytes",
      "x-linked-size": bytes.length,
      "x-linked-etag": `"${createHash("sha256").update(bytes).digest("hex")}"`,
      "content-type": "text/plain; charset=utf-8",
    });
    res.end("Found. Redirecting");
  });

  return {
    endpoint: originOf(hub),
    requests,
    faults,
    get token() {
      return token;
    },
    set token(value) {
      token = value;
    },
    replace: (path, bytes) => void held.set(path, bytes),
    cut: () => cdn.closeAllConnections(),
    async close() {
      await Promise.all([stop(hub), stop(cdn)]);
      if (problems.length > 0) throw new Error(problems.join("; "));
    },
  };
}

function sendFile(req: IncomingMessage, res: ServerResponse, { bytes, faults }: { bytes: Buffer | undefined; faults: HubFaults }): void {
  if (!bytes) return void res.writeHead(404).end();
  const etag = `"${createHash("md5").update(bytes).digest("hex")}"`;
  const range = faults.noRanges ? undefined : /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? "");
  const from = Number(range?.[1] ?? 0);
  if (range && from >= bytes.length) return void res.writeHead(416, { "content-range": `bytes */${bytes.length}`, etag }).end();
  const sent = faults.wrongBytes ? Buffer.from(bytes.subarray(from).map((byte, i) => (i < 8 ? byte : byte ^ 1))) : bytes.subarray(from);
  const head = { etag, "content-length": sent.length, "accept-ranges": "bytes", "content-type": "binary/octet-stream" };
  res.writeHead(range ? 206 : 200, range ? { ...head, "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : head);
  const { cutAfter, stallAfter } = faults;
  if (!faults.always) {
    delete faults.cutAfter;
    delete faults.stallAfter;
    delete faults.wrongBytes;
  }
  if (cutAfter !== undefined && cutAfter < sent.length) res.write(sent.subarray(0, cutAfter), () => res.socket?.end());
  else if (stallAfter !== undefined) res.write(sent.subarray(0, stallAfter));
  else res.end(sent);
}

async function listen(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pathOf(req: IncomingMessage): string {
  return new URL(req.url ?? "/", "http://x").pathname;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
