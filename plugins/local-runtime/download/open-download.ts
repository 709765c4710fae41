import { type HttpRequestFunction, type HttpResponse, isSvcError, messageOf } from "svc/sdk";
import { DownloadFailure } from "./download-failure.ts";
import type { ModelAddress } from "./model-address.ts";

/** Facts that servers tell about a file. */
export interface FileFacts {
  size: number | undefined;
  /** In lower-case hex. */
  sha256: string | undefined;
  /** Tells one version of the file from another. */
  etag: string | undefined;
}

export interface OpenedDownload {
  response: HttpResponse;
  facts: FileFacts;
}

const MAX_REDIRECTS = 5;
/** A server that brings nothing for so long will bring nothing. */
const SILENT_MS = 120_000;
const isSha256 = /^[0-9a-f]{64}$/;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface OpenOptions {
  request: HttpRequestFunction;
  /** Bytes that are here already. */
  from: number;
  /** For the hub, where it asks for one. */
  token: string | undefined;
  signal: AbortSignal;
}

/**
 * Asks for a file from a byte on. The hub answers by a redirect to the host that holds the file, and announces its size and SHA-256 there
 * (`X-Linked-Size`, `X-Linked-ETag`); a token goes to the hub alone. Status 200, 206 or 416. @throws {DownloadFailure}
 */
export async function openDownload(address: ModelAddress, options: OpenOptions): Promise<OpenedDownload> {
  try {
    return await follow(address, options, undefined);
  } catch (error) {
    const isRefused = error instanceof DownloadFailure && error.fault === "auth";
    if (!isRefused || options.token === undefined || address.hub === undefined) throw error;
    return follow(address, options, options.token);
  }
}

async function follow({ url: start, hub }: ModelAddress, options: OpenOptions, token: string | undefined): Promise<OpenedDownload> {
  let url = start;
  let linked: FileFacts = { size: undefined, sha256: undefined, etag: undefined };
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await ask(url, options, url.origin === hub ? token : undefined);
    const { status, headers } = response;
    linked = url.origin === start.origin ? linkedFacts(headers, linked) : linked;
    if (!redirects.has(status)) return judged(response, linked);
    response.body.on("error", () => undefined).destroy();
    const next =
      headers.location !== undefined && URL.canParse(headers.location, url.href) ? new URL(headers.location, url.href) : undefined;
    if (!next || !["http:", "https:"].includes(next.protocol)) throw new DownloadFailure("network", "its server redirects to no address");
    if (url.protocol === "https:" && next.protocol === "http:")
      throw new DownloadFailure("network", `its server redirects from HTTPS to plain HTTP at ${next.host}`);
    url = next;
  }
  throw new DownloadFailure("network", `its server redirects more than ${MAX_REDIRECTS} times`);
}

async function ask(url: URL, { request, from, signal }: OpenOptions, token: string | undefined): Promise<HttpResponse> {
  const headers = {
    "accept-encoding": "identity",
    ...(from > 0 ? { range: `bytes=${from}-` } : {}),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  try {
    return await request(url, { headers, signal, timeoutMs: SILENT_MS });
  } catch (error) {
    signal.throwIfAborted();
    // The address itself may hold a signature.
    const reason = isSvcError(error) ? error.code.replaceAll("-", " ") : messageOf(error).replaceAll(url.href, url.host);
    throw new DownloadFailure("network", `${url.host} cannot be reached (${reason})`, { isPassing: true, cause: error });
  }
}

function judged(response: HttpResponse, linked: FileFacts): OpenedDownload {
  const { status, headers, body } = response;
  if (status === 200 || status === 206 || status === 416) {
    const size = linked.size ?? sizeOf(status, headers);
    const etag = linked.etag ?? plainTag(headers.etag);
    return { response, facts: { size, sha256: linked.sha256, etag } };
  }
  body.on("error", () => undefined).destroy();
  if (status === 401 || status === 403)
    throw new DownloadFailure(
      "auth",
      `its server answered with status code ${status}: it wants a token (HF_TOKEN), or that its terms are accepted`,
    );
  if (status === 404 || status === 410)
    throw new DownloadFailure("model", `its server answered with status code ${status}: there is no such file`);
  throw new DownloadFailure("network", `its server answered with status code ${status}`, {
    isPassing: status === 408 || status === 429 || status >= 500,
  });
}

function linkedFacts(headers: HttpResponse["headers"], before: FileFacts): FileFacts {
  const size = wholeNumber(headers["x-linked-size"]);
  const etag = plainTag(headers["x-linked-etag"]);
  return {
    size: size ?? before.size,
    etag: etag ?? before.etag,
    sha256: etag !== undefined && isSha256.test(etag) ? etag : before.sha256,
  };
}

/** Size of the whole file, as an answer tells it. */
function sizeOf(status: number, headers: HttpResponse["headers"]): number | undefined {
  if (status === 200) return wholeNumber(headers["content-length"]);
  return wholeNumber(/\/(\d{1,15})$/.exec(headers["content-range"] ?? "")?.[1]);
}

function plainTag(tag: string | undefined): string | undefined {
  const text = tag?.replace(/^W\//, "").replaceAll('"', "").trim();
  return text === undefined || text === "" ? undefined : text;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** First byte of a part that a server sends. */
export function firstByte({ status, headers }: Pick<HttpResponse, "status" | "headers">): number | undefined {
  return status === 206 ? wholeNumber(/^bytes (\d{1,15})-/.exec(headers["content-range"] ?? "")?.[1]) : 0;
}
