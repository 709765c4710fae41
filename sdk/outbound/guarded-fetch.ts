import { lookup as systemLookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { NotDispatchedError, SendRefusedError } from "../send-errors.ts";
import { isPublicAddress } from "./address-guard.ts";

/** Redirects that are followed. */
const MAX_REDIRECTS = 3;
/** Time limit of a file, its redirects included. */
const WHOLE_MS = 15_000;
const MAX_URL_CHARS = 2_000;

/** Bounds of a fetch whose address comes from a model or a stranger. */
export interface FetchRules {
  maxBytes: number;
  signal: AbortSignal;
  /** Default 3. */
  maxRedirects?: number;
  /** For the whole of it; default 15 s. */
  timeoutMs?: number;
  /** Hosts that may be asked, in the form a URL has them; default: any. Asked again for each redirect. */
  isHostAllowed?: (host: string) => boolean;
  /** For tests, whose servers are of this machine. */
  isAllowed?: (address: string) => boolean;
  lookup?: LookupFunction;
}

/** Answer of a server, whole. */
export interface FetchedFile {
  content: Buffer;
  /** Type that the server named. */
  mime: string;
  /** Where it was found, after redirects. */
  url: string;
}

/**
 * Fetches a file of the public network whose address came from a text. Every address that a name stands for is checked, the connection goes to a checked one, and so
 * again for each redirect; nothing of the gateway (credentials, cookies) is sent. It uses no proxy: behind one nobody could say where the connection ends.
 * @throws {SendRefusedError} for an address that is not public, and for a file that is too large; {NotDispatchedError} for a server that does not answer
 */
export async function fetchPublic(address: string, rules: FetchRules): Promise<FetchedFile> {
  const { maxRedirects = MAX_REDIRECTS, timeoutMs = WHOLE_MS } = rules;
  const signal = AbortSignal.any([rules.signal, AbortSignal.timeout(timeoutMs)]);
  let url = checkedUrl(address);
  for (let left = maxRedirects; ; left--) {
    // A host that a server redirects to is a stranger's text, which models read.
    const host = left === maxRedirects ? `the host ${url.hostname}` : "a host that the address redirects to";
    if (rules.isHostAllowed?.(url.hostname) === false) throw refuse(`${host} is not on the list of allowed ones`);
    const response = await respond(url, { ...rules, signal });
    const { statusCode = 0, headers } = response;
    const to = statusCode >= 300 && statusCode < 400 ? headers.location : undefined;
    if (to !== undefined && left > 0) {
      response.destroy();
      if (!URL.canParse(to, url.href)) throw refuse("the server of the file redirects to something that is no address");
      url = checkedUrl(new URL(to, url).href);
      continue;
    }
    if (statusCode !== 200) {
      response.destroy();
      const reason = `the server of the file answered ${statusCode}`;
      throw statusCode >= 500 || statusCode === 429 ? new NotDispatchedError(reason) : refuse(reason);
    }
    return { content: await read(response, rules.maxBytes), mime: String(headers["content-type"] ?? ""), url: url.href };
  }
}

/** Reads an address of at most 2,000 characters, `http:` or `https:`, without user and password. @throws {SendRefusedError} for anything but a plain web address */
export function checkedUrl(address: string): URL {
  const url = address.length <= MAX_URL_CHARS && URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) throw refuse("expected an http or https address");
  if (url.username !== "" || url.password !== "") throw refuse("an address with a user name is not fetched");
  return url;
}

function refuse(reason: string): SendRefusedError {
  return new SendRefusedError(reason, { isPermanent: true });
}

function respond(
  url: URL,
  { signal, isAllowed = isPublicAddress, lookup = systemLookup as LookupFunction }: FetchRules,
): Promise<IncomingMessage> {
  // A literal is not looked up; the parser of URLs has made one form of all its spellings.
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isAllowed(literal)) throw refuse("the address of the file is not public");
  const guarded: LookupFunction = (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "");
      const all = Array.isArray(found) ? found : [];
      const [first] = all;
      if (!first || !all.every(({ address }) => isAllowed(address))) return done(refuse("the address of the file is not public"), "");
      if (options.all) return done(null, all);
      done(null, first.address, first.family);
    });
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) =>
      reject(error instanceof SendRefusedError ? error : new NotDispatchedError("the server of the file did not answer", { cause: error }));
    const start = url.protocol === "https:" ? requestHttps : requestHttp;
    const headers = { accept: "*/*", "accept-encoding": "identity", "user-agent": "svc" };
    const sent = start(url, { lookup: guarded, signal, agent: false, headers }, resolve);
    sent.on("error", fail);
    // The only event after an answer that changes the protocol; without effect after an ordinary one.
    sent.on("close", () => fail(new Error("the connection was closed")));
    sent.end();
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => refuse(`the file is larger than ${maxBytes} bytes`);
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) {
    response.destroy();
    throw tooLarge();
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof SendRefusedError ? error : new NotDispatchedError("the file broke off", { cause: error });
  }
  return Buffer.concat(chunks);
}
