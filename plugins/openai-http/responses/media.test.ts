import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { commonErrors, type SvcConfig } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PdfContent, PdfLimits } from "../pdf/job.ts";
import { PdfRefusal } from "../pdf/reader.ts";
import type { MediaPart } from "./content.ts";
import { textOfFile } from "./files.ts";
import { isListed, readMedia } from "./media.ts";

type Limits = SvcConfig["gateway"]["http"]["endpoints"]["responses"];
type Overrides = { maxUrlParts?: number; images?: Partial<Limits["images"]>; files?: Partial<Limits["files"]> };

const gif = Buffer.from("GIF89a0000000");
const mimes = ["text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/pdf"];
const limitsWith = ({ maxUrlParts = 8, images, files }: Overrides): Limits => ({
  enabled: true,
  maxUrlParts,
  images: { allowUrl: true, urlAllowlist: [], ...images },
  files: {
    ...{ allowUrl: true, urlAllowlist: [], allowedMimes: mimes, maxBytes: 100, maxChars: 50, maxRedirects: 3, timeoutMs: 10_000 },
    pdf: { maxPages: 4, maxPixels: 4_000_000, minTextChars: 200 },
    ...files,
  },
});

let server: Server;
let answer: RequestListener;
let base: string;
beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://files.test:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const lookup: LookupFunction = (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
const fromUrl = (kind: MediaPart["kind"], path = "/a.txt"): MediaPart => ({
  kind,
  path: "input.0.content.0",
  from: { url: `${base}${path}` },
});
const inline = (text: string, mime = "text/plain"): MediaPart => ({
  kind: "file",
  path: "input.0.content.0",
  from: { data: Buffer.from(text).toString("base64"), mime },
});

/** Content of the next PDF, or why it is not read; a test sets it. */
let pdfContent: Partial<PdfContent> | Error = {};
let asked: PdfLimits | undefined;
const pdf = {
  async read(_bytes: Uint8Array, limits: PdfLimits): Promise<PdfContent> {
    asked = limits;
    if (pdfContent instanceof Error) throw pdfContent;
    const { text = "" } = pdfContent;
    return { text, chars: text.length, pages: 1, leftOut: 0, pictures: [], ...pdfContent };
  },
};

async function read(parts: MediaPart[], overrides: Overrides = {}, readsPdf = async () => false) {
  const reasons: string[] = [];
  const signal = AbortSignal.timeout(20_000);
  const options = { limits: limitsWith(overrides), signal, pdf, readsPdf, refused: (reason: string) => void reasons.push(reason) };
  const media = await readMedia(parts, { ...options, fetch: { lookup, isAllowed: () => true } }).catch((error: Error) => error.message);
  return { media, reason: reasons.join() };
}

describe("media by URL", () => {
  test("are fetched: a picture by its type and bytes, a file by its type", async () => {
    answer = ({ url }, response) => {
      const isPicture = url === "/a.gif";
      response.setHeader("content-type", isPicture ? "image/gif" : "text/markdown; charset=utf-8").end(isPicture ? gif : "# Hello");
    };
    const { media } = await read([fromUrl("image", "/a.gif"), fromUrl("file", "/note.md")]);

    expect(media).toMatchObject({
      attachments: [{ type: "image", mimeType: "image/gif", data: gif.toString("base64") }],
      texts: [expect.stringContaining("Source: File\nSubject: note.md\n---\n# Hello\n")],
    });
  });

  test.each<[string, MediaPart["kind"], Overrides, string]>([
    ["more of them than allowed", "file", { maxUrlParts: 0 }, "1 URLs; at most 0"],
    ["files where none are fetched", "file", { files: { allowUrl: false } }, "URLs are not fetched here"],
    ["pictures where none are fetched", "image", { images: { allowUrl: false } }, "URLs are not fetched here"],
    ["a host that is not listed", "file", { files: { urlAllowlist: ["*.files.test"] } }, "files.test is not on the list"],
    ["a picture's host that is not listed", "image", { images: { urlAllowlist: ["other.test"] } }, "files.test is not on the list"],
    ["a file that is too large", "file", { files: { maxBytes: 4 } }, "larger than 4 bytes"],
    ["a type that is not allowed", "file", { files: { allowedMimes: ["text/csv"] } }, "type text/plain is not allowed"],
    ["a picture that is none", "image", {}, "type text/plain"],
  ])("%s are refused, and only the log says why", async (_name, kind, overrides, reason) => {
    answer = (_request, response) => response.setHeader("content-type", "text/plain").end("Hello");
    const { media, reason: said } = await read([fromUrl(kind)], overrides);

    expect(media).toBe("invalid request");
    expect(said).toContain(kind === "image" && reason === "type text/plain" ? "input.0.content.0: " : reason);
  });

  test("redirects are followed as often as allowed", async () => {
    answer = ({ url }, response) => (url === "/b" ? response.end("Hello") : response.writeHead(302, { location: "/b" }).end());

    expect((await read([fromUrl("file")], { files: { maxRedirects: 0 } })).reason).toContain("answered 302");
    expect((await read([fromUrl("file")], { files: { maxRedirects: 1 } })).media).toMatchObject({
      texts: [expect.stringContaining("Hello")],
    });
  });
});

describe("files in the request", () => {
  test("are taken at their limits, and refused one past them", async () => {
    expect((await read([inline("x".repeat(100))])).media).toMatchObject({ texts: [expect.any(String)] });
    expect((await read([inline("x".repeat(101))])).reason).toContain("larger than 100 bytes");
    expect((await read(Array(20).fill(inline("x")))).media).toMatchObject({ texts: expect.arrayContaining([expect.any(String)]) });
    expect((await read(Array(21).fill(inline("x")))).reason).toContain("21 files; at most 20");
  });

  test("are cut to the longest text, and say so", async () => {
    const { media } = await read([inline(`${"x".repeat(50)}yyy`)]);

    expect(typeof media === "string" ? media : media.texts[0]).toMatch(/---\nx{50}\n\[… 3 characters left out …\]\n<<<END/);
  });

  test("without a type go by the end of their name", () => {
    const text = (name: string | undefined, mime?: string) => textOfFile({ bytes: Buffer.from("a"), mime, name }, ["text/csv"]);
    expect(text("A.CSV")).toEqual({ text: "a" });
    expect(text("a.csv", "application/octet-stream")).toEqual({ text: "a" });
    expect(() => text("a.zip")).toThrow("type text/plain is not allowed");
  });
});

describe("a PDF", () => {
  const file = inline("%PDF-1.7", "application/pdf");
  const textOf = async (content: Partial<PdfContent>, overrides: Overrides = {}) => {
    pdfContent = content;
    const { media } = await read([file], overrides);
    return typeof media === "string" ? media : /---\n(.*)\n<<<END/s.exec(media.texts.join())?.[1];
  };

  test("is known by its bytes, by its type or by its name, and read within the limits of the config", async () => {
    pdfContent = { text: "Hello" };
    const named: MediaPart = { kind: "file", path: "input.0.content.0", from: { data: "JVBE", mime: undefined }, filename: "a.pdf" };
    for (const part of [file, inline("%PDF-1.7"), named]) {
      asked = undefined;
      expect((await read([part])).media).toMatchObject({ attachments: [], texts: [expect.stringContaining("---\nHello\n<<<END")] });
      expect(asked).toEqual({ maxPages: 4, maxPixels: 4_000_000, minTextChars: 200, maxChars: 50 });
    }
  });

  test("says what is not in its text", async () => {
    expect(await textOf({})).toBe("[No extractable text]");
    expect(await textOf({ text: "Hi", pages: 9, leftOut: 5 })).toBe("Hi\n[5 of 9 pages left out]");
    expect(await textOf({ text: "Hello", chars: 60 }, { files: { maxChars: 5 } })).toBe("Hello\n[… 55 characters left out …]");
  });

  test("without text comes as pictures, which share the limit of those of the request", async () => {
    pdfContent = { pictures: [Buffer.from("one"), Buffer.from("two")] };
    const { media } = await read([file]);

    expect(media).toMatchObject({
      attachments: ["one", "two"].map((data) => ({ type: "image", mimeType: "image/jpeg", data: Buffer.from(data).toString("base64") })),
      texts: [expect.stringContaining("---\n[PDF content rendered to images]\n<<<END")],
    });
    pdfContent = { pictures: [Buffer.alloc(20 * 1024 * 1024 + 1)] };
    expect((await read([file])).reason).toContain("larger than 20971520 bytes together");
  });

  test("goes as it is to a model that reads PDF files", async () => {
    const { media } = await read([{ ...file, filename: "a.pdf" }], {}, async () => true);

    const data = Buffer.from("%PDF-1.7").toString("base64");
    expect(media).toEqual({ attachments: [{ type: "file", mimeType: "application/pdf", data, fileName: "a.pdf" }], texts: [] });
  });

  test("is refused by name for what can be helped, and as invalid when it is damaged", async () => {
    const answerTo = async (fault: Error) => {
      pdfContent = fault;
      return read([file]);
    };

    expect((await answerTo(new PdfRefusal("encrypted"))).media).toBe("input.0.content.0: the PDF is encrypted; send it without a password");
    expect((await answerTo(new PdfRefusal("not-installed"))).media).toContain("install it: svc plugins add-packages openai-http");
    expect((await answerTo(new PdfRefusal("too-slow"))).media).toContain("input.0.content.0: the PDF takes longer");
    expect(await answerTo(new PdfRefusal("damaged", "no pages"))).toEqual({
      media: "invalid request",
      reason: "input.0.content.0: the PDF cannot be read: no pages",
    });
    expect((await answerTo(commonErrors.busy())).media).toBe("too many requests are waiting; try again");
  });
});

test.each([
  ["a.test", [], true],
  ["a.test", ["A.TEST"], true],
  ["b.a.test", ["*.a.test"], true],
  ["a.test", ["*.a.test"], false],
  ["xa.test", ["*.a.test"], false],
  ["b.test", ["a.test"], false],
])("host %s on the list %j: %s", (host, list, isOn) => {
  expect(isListed(host, list)).toBe(isOn);
});
