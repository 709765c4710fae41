import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EmbeddingAdapter, EmbeddingContext, EmbeddingFault } from "../types/embedding.ts";
import { type ContractCase, rejectionOf, within } from "./contract.ts";
import { embeddingContext, isEmbeddingError } from "./embedding-context.ts";

/** Damage done to an answer in transit. */
type Damage =
  | "none"
  | "a vector is missing"
  | "a vector is too short"
  | "a number is none"
  | "the end is missing"
  | "the connection breaks";

/** Cases about a vendor whose answers are damaged: they go through a server of the suite that changes them. None when the vendor's address is not known. */
export function embeddingAnswerCases(adapter: EmbeddingAdapter, context: Partial<EmbeddingContext>): ContractCase[] {
  const baseUrl = context.remote?.baseUrl;
  if (baseUrl === undefined || !baseUrl.startsWith("http:")) return [];
  const damaged = (damage: Damage, expected: EmbeddingFault): ContractCase => ({
    name: `an answer is ${expected} when ${damage}`,
    async run() {
      const way = await startWay(new URL(baseUrl));
      try {
        const { provider } = await adapter.create(embeddingContext({ ...context, remote: { ...context.remote, baseUrl: way.url } }));
        // A model may say the length of its vectors by the first of them only.
        await within(provider.embedBatch(["one"]), 20_000, "a call that goes well");
        way.damage = damage;
        const error = await within(rejectionOf(provider.embedBatch(["one", "two", "three"])), 20_000, "a failing call");
        await provider.close?.();
        assert.ok(isEmbeddingError(error), error === undefined ? "the call resolved" : `rejected with ${String(error)}`);
        assert.equal(error.fault, expected, error.message);
      } finally {
        await way.close();
      }
    },
  });
  return [
    damaged("a vector is missing", "bad-response"),
    damaged("a vector is too short", "bad-response"),
    damaged("a number is none", "bad-response"),
    damaged("the end is missing", "bad-response"),
    damaged("the connection breaks", "network"),
  ];
}

interface Way {
  url: string;
  damage: Damage;
  close(): Promise<void>;
}

/** A server that passes everything on to the vendor, and its answers back with some damage. */
async function startWay(vendor: URL): Promise<Way> {
  const server = createServer((req, res) => void pass(req, res).catch(() => res.destroy()));
  const way: Way = {
    url: "",
    damage: "none",
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // The address stays the one that was asked: it may be signed.
    const onward = httpRequest({
      host: vendor.hostname,
      port: vendor.port,
      method: req.method,
      path: req.url,
      headers: req.headers,
      agent: false,
    });
    req.pipe(onward);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const { "content-length": _length, "transfer-encoding": _encoding, ...headers } = answer.headers;
    const text = (await answer.setEncoding("utf8").toArray()).join("");
    const isVectors = answer.statusCode === 200 && sitesIn(parse(text)).length > 0;
    const changed = isVectors ? damagedText(text, way.damage) : text;
    if (isVectors && way.damage === "the connection breaks") {
      res.writeHead(200, { ...headers, "content-length": String(text.length) });
      res.write(text.slice(0, text.length / 2), () => res.destroy());
    } else res.writeHead(answer.statusCode ?? 500, { ...headers, "content-length": String(Buffer.byteLength(changed)) }).end(changed);
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  way.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${vendor.pathname.replace(/(?<!\/)\/+$/, "")}`;
  return way;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function damagedText(text: string, damage: Damage): string {
  if (damage === "the end is missing") return text.slice(0, text.length / 2);
  const answer = JSON.parse(text) as unknown;
  const sites = sitesIn(answer);
  const last = sites.at(-1);
  if (damage === "a vector is missing" && last) remove(last);
  if (damage === "a vector is too short") for (const site of sites) change(site, (vector) => vector.slice(0, vector.length / 2));
  if (damage === "a number is none" && last) change(last, (vector) => [Number.NaN, ...vector.slice(1)]);
  return JSON.stringify(answer);
}

/** Path to a vector from the top. */
type Site = Array<{ holder: Record<string, unknown> | unknown[]; key: string }>;

const MIN_DIMS = 4;

function sitesIn(value: unknown, way: Site = []): Site[] {
  if (isVector(value, way.at(-1)?.key)) return [way];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => sitesIn(inner, [...way, { holder: value as Record<string, unknown>, key }]));
}

function isVector(value: unknown, key: string | undefined): boolean {
  if (typeof value === "string") return key === "embedding" && value.length > MIN_DIMS * 4;
  return Array.isArray(value) && value.length >= MIN_DIMS && value.every((item) => typeof item === "number");
}

/** Takes the vector out of the innermost list it is in, or out of its object. */
function remove(site: Site): void {
  const last = site.at(-1);
  const listed = site.findLast(({ holder }) => Array.isArray(holder));
  if (listed && Array.isArray(listed.holder)) listed.holder.splice(Number(listed.key), 1);
  else if (last) delete (last.holder as Record<string, unknown>)[last.key];
}

function change(site: Site, edit: (vector: number[]) => number[]): void {
  const last = site.at(-1);
  if (!last) return;
  const holder = last.holder as Record<string, unknown>;
  const value = holder[last.key];
  holder[last.key] = typeof value === "string" ? toBase64(edit(fromBase64(value))) : edit(value as number[]);
}

function fromBase64(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readFloatLE(i * 4));
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString("base64");
}
