import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageFetcher } from "./image-urls.ts";
import { decodeImages } from "./images.ts";

const gif = Buffer.from("GIF89a0000000");
const lookup: LookupFunction = (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
const open = { allowUrl: true, urlAllowlist: [] as string[] };
let server: Server;
let asked: string[] = [];
let port: number;

beforeAll(async () => {
  server = createServer(({ url = "" }, response) => {
    asked.push(url);
    if (url === "/moved") response.writeHead(302, { location: `http://elsewhere.test:${port}/a.gif` }).end();
    else response.setHeader("content-type", url === "/a.txt" ? "text/plain" : "image/gif; q=1").end(gif);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** The pictures, or the reason of the refusal and what the caller is told. */
async function read(path: string, rules = open, fetch: object = { lookup, isAllowed: () => true }) {
  asked = [];
  const reasons: string[] = [];
  const fetchImage = imageFetcher(rules, { signal: AbortSignal.timeout(20_000), fetch: fetch as never });
  return decodeImages([`http://pictures.test:${port}${path}`], (reason) => void reasons.push(reason), fetchImage).catch((error: Error) => [
    reasons.join(),
    error.message,
  ]);
}

const refused = (reason: RegExp) => [expect.stringMatching(reason), "Invalid image_url content in `messages`."];

describe("a picture by URL", () => {
  test("is fetched where the config allows it, and known by its bytes", async () => {
    expect(await read("/a.gif")).toEqual([{ type: "image", mimeType: "image/gif", data: gif.toString("base64") }]);
  });

  test("is not fetched by default", async () => {
    expect(await read("/a.gif", { ...open, allowUrl: false })).toEqual(refused(/^image 0: not a base64 data: address$/));
    expect(asked).toEqual([]);
  });

  test.each([
    ["of a host that is not listed", "/a.gif", { ...open, urlAllowlist: ["pictures.example"] }, 0],
    ["that leads to a host that is not listed", "/moved", { ...open, urlAllowlist: ["pictures.test"] }, 1],
    ["that is no picture", "/a.txt", open, 1],
  ])("%s is refused", async (_name, path, rules, requests) => {
    expect(await read(path, rules)).toEqual(refused(/^image 0: ./));
    expect(asked).toHaveLength(requests);
  });

  test("of this machine is refused", async () => {
    expect(await read("/a.gif", open, { lookup })).toEqual(refused(/^image 0: ./));
    expect(asked).toEqual([]);
  });
});
