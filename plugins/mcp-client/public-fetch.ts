import { lookup } from "node:dns";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "svc/sdk";
import type { Fetch } from "./library.ts";

const MAX_BYTES = 1_048_576;
const LIMIT_MS = 15_000;

/**
 * A request to an address that a foreign server named, such as that of its authorization server: https only, to an address of the public network that was
 * checked as the connection was made, without redirects and without anything of the config.
 */
export const publicFetch: Fetch = (input, init = {}) => {
  const url = new URL(input);
  if (url.protocol !== "https:" || url.username !== "" || url.password !== "") throw new Error(`${url.origin}: expected an https address`);
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw notPublic(url);
  const guarded: LookupFunction = (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "");
      const [first] = found;
      if (!first || !found.every(({ address }) => isPublicAddress(address))) return done(notPublic(url), "");
      if (options.all) return done(null, found);
      done(null, first.address, first.family);
    });
  const signal = AbortSignal.any([AbortSignal.timeout(LIMIT_MS), ...(init.signal ? [init.signal] : [])]);
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = init.body === undefined || init.body === null ? undefined : String(init.body);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: init.method ?? "GET", headers, lookup: guarded, signal, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on("error", reject);
      answer.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) answer.destroy(new Error(`${url.origin} sent more than ${MAX_BYTES} bytes`));
      });
      answer.on("end", () => {
        const { statusCode: status = 502, headers: given } = answer;
        const isEmpty = status === 204 || status === 205 || status === 304;
        const named = Object.entries(given).flatMap(([name, value]) =>
          typeof value === "string" ? [[name, value] as [string, string]] : [],
        );
        resolve(new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: named }));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
};

function notPublic(url: URL): Error {
  return new Error(`${url.origin}: the address is not one of the public network`);
}
