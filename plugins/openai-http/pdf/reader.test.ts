import { commonErrors, type PluginVendor } from "svc/sdk";
import { vendorIn } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, describe as plainDescribe, test as plainTest } from "vitest";
import { contentPdf, encryptedPdf, packedPdf, pdfOf, scannedPdf, textPdf } from "../../../test/fixtures/pdf.ts";
import { needsPackages } from "../../../test/servers/vendored.ts";
import { scaleOf } from "./extract.ts";
import type { PdfLimits } from "./job.ts";
import { PdfReader, PdfRefusal } from "./reader.ts";

const { describe, test } = await needsPackages("openai-http");

const vendor = vendorIn(new URL("..", import.meta.url));
const words = "Where is the router? In the cellar, behind the boiler.";
const limits: PdfLimits = { maxPages: 4, maxPixels: 100_000, minTextChars: 20, maxChars: 1_000 };
const never = () => new AbortController().signal;
/** A page whose operators take many seconds to read. */
const long = contentPdf("BT (a) Tj ET ".repeat(3_000_000), { deflated: true });
const endless = () => Buffer.from(long);

let reader: PdfReader;
beforeAll(() => {
  reader = new PdfReader({ vendor, limitMs: 120_000 });
});
afterAll(() => reader.close());

const read = (bytes: Buffer, others: Partial<PdfLimits> = {}) => reader.read(bytes, { ...limits, ...others }, never());
const kindOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => (error instanceof PdfRefusal ? error.kind : String(error)),
  );

describe("a PDF with text", () => {
  test("is read page by page, as many as allowed", async () => {
    expect(await read(textPdf([words, "page two", "page three"]), { maxPages: 2 })).toEqual({
      text: `${words}\n\npage two`,
      chars: words.length + 10,
      pages: 3,
      leftOut: 1,
      pictures: [],
    });
  });

  test("is cut to the longest text, and its whole length is told", async () => {
    expect(await read(textPdf([words]), { maxChars: 5 })).toMatchObject({ text: "Where", chars: words.length });
  });

  test("that its owner alone may change opens without a password", async () => {
    expect(await read(encryptedPdf("", words))).toMatchObject({ text: words });
  });

  test("is drawn when there is less of it than wanted, and not at that length", async () => {
    expect(await read(textPdf(["12345"]), { minTextChars: 5 })).toMatchObject({ text: "12345", pictures: [] });
    expect((await read(textPdf(["1234"]), { minTextChars: 5 })).pictures).toHaveLength(1);
  });
});

describe("a PDF of pictures", () => {
  test("is drawn as JPEG, as many pages as allowed and no larger than allowed", async () => {
    const { text, pictures, leftOut } = await read(scannedPdf(3), { maxPages: 2 });

    expect({ text, leftOut, types: pictures.map((bytes) => Buffer.from(bytes.subarray(0, 3)).toString("hex")) }).toEqual({
      text: "",
      leftOut: 1,
      types: ["ffd8ff", "ffd8ff"],
    });
    const [width, height] = jpegSize(pictures[0] as Uint8Array);
    expect(width * height).toBeLessThanOrEqual(100_000);
    expect(width * height).toBeGreaterThan(95_000);
  });

  test("is refused by name where nothing can be drawn; what has only text is not", async () => {
    const bare = new PdfReader({ vendor: without("@napi-rs/canvas"), limitMs: 120_000 });

    expect(await kindOf(bare.read(scannedPdf(), limits, never()))).toBe("no-canvas");
    expect(await bare.read(textPdf(["1234"]), limits, never())).toMatchObject({ text: "1234", pictures: [] });
    expect(await bare.read(contentPdf(""), limits, never())).toMatchObject({ text: "", pictures: [] });
    await bare.close();
  });

  test("that are blank has nothing to show", async () => {
    expect(await read(contentPdf(""))).toMatchObject({ text: "", pictures: [] });
  });
});

describe("a hostile or broken PDF", () => {
  const catalog = "<</Type/Catalog/Pages 2 0 R>>";
  const whole = textPdf([words]);
  const nested = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const damaged: Array<[string, Buffer]> = [
    ["cut off in its first page", whole.subarray(0, 300)],
    ["without anything in it", Buffer.from("%PDF-1.7\n")],
    ["that is something else", Buffer.from("PK\x03\x04, an archive named a.pdf")],
    ["of no pages", pdfOf([catalog, "<</Type/Pages/Kids[]/Count 0>>"])],
    ["whose page tree is a loop", pdfOf([catalog, "<</Type/Pages/Kids[2 0 R]/Count 1>>"])],
  ];
  const harmless: Array<[string, Buffer]> = [
    ["that claims 10,000 pages", Buffer.from(whole.toString("latin1").replace("/Count 1>>", "/Count 10000>>"), "latin1")],
    [
      "whose table of objects points at itself",
      Buffer.from(whole.toString("latin1").replace("trailer\n<<", `trailer\n<</Prev ${whole.indexOf("xref")}`), "latin1"),
    ],
    ["with a script that runs when it is opened", scripted()],
    ["with deeply nested lists", contentPdf(`${nested} BT /F1 12 Tf 40 700 Td (${words}) Tj ET`)],
  ];

  test("is refused as damaged when nothing can be made of it", async () => {
    expect(Object.fromEntries(await Promise.all(damaged.map(async ([name, bytes]) => [name, await kindOf(read(bytes))])))).toEqual(
      Object.fromEntries(damaged.map(([name]) => [name, "damaged"])),
    );
  });

  test("is read for what it holds, and nothing of it runs", async () => {
    const found = harmless.map(async ([name, bytes]) => [name, (await read(bytes, { minTextChars: 0 })).text]);

    expect(Object.fromEntries(await Promise.all(found))).toEqual(Object.fromEntries(harmless.map(([name]) => [name, words])));
  });

  test("whose objects are packed opens as another", async () => {
    const page = "<</Type/Page/Parent 3 0 R/MediaBox[0 0 612 792]/Resources<<>>>>";
    const packed = packedPdf(["<</Type/Catalog/Pages 3 0 R>>", "<</Type/Pages/Kids[4 0 R]/Count 1>>", page]);

    expect(await read(packed)).toMatchObject({ text: "", pages: 1, leftOut: 0 });
  });

  test("that needs a password is refused by name", async () => {
    expect(await kindOf(read(encryptedPdf("secret", words)))).toBe("encrypted");
  });

  test("with pages of a mile is drawn as small as any", async () => {
    expect(await kindOf(read(textPdf(["1234"], "0 0 4600000 4600000")))).toBe("read");
    expect(await kindOf(read(textPdf(["1234"], "0 0 1000000000 1")))).toBe("read");
  });

  test("that unpacks to more than its memory ends with it, as one with many objects does", async () => {
    const packed = contentPdf(Buffer.alloc(100_000_000, " "), { deflated: true });
    const small = new PdfReader({ vendor, limitMs: 120_000, maxMemoryBytes: 32_000_000 });
    const narrow = new PdfReader({ vendor, limitMs: 120_000, heapMb: 64 });

    expect(await kindOf(small.read(packed, limits, never()))).toBe("too-large");
    expect(await kindOf(narrow.read(objectBomb(), limits, never()))).toBe("too-large");
  });

  test("that takes too long ends at the limit, while the gateway goes on", async () => {
    const short = new PdfReader({ vendor, limitMs: 1_500 });
    const reading = kindOf(short.read(endless(), limits, never()));
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);

    expect(await reading).toBe("too-slow");
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(100);
  });
});

describe("readings that wait", () => {
  test("end with their request, whether they have begun or not, and make place for others", async () => {
    const requests = [new AbortController(), new AbortController(), new AbortController()];
    const gone = new Error("the client went away");
    const readings = requests.map(({ signal }) => reader.read(endless(), limits, signal).catch((error: unknown) => error));
    const next = read(textPdf([words]));

    for (const request of requests) request.abort(gone);
    expect(await Promise.all(readings)).toEqual([gone, gone, gone]);
    expect(await next).toMatchObject({ text: words });
    await expect(reader.read(textPdf([words]), limits, AbortSignal.abort(gone))).rejects.toBe(gone);
  });

  test("are refused as busy when too many do; a close ends all of them", async () => {
    const crowded = new PdfReader({ vendor });
    const readings = Array.from({ length: 19 }, () => kindOf(crowded.read(endless(), limits, never())));

    expect(await Promise.race(readings)).toContain("too many requests are waiting");
    await crowded.close();
    expect(new Set(await Promise.all(readings))).toEqual(new Set([String(commonErrors.busy())]));
  });
});

plainDescribe("without its packages", () => {
  plainTest("a PDF is refused with the command that installs them", async () => {
    const reading = new PdfReader({ vendor: without("pdfjs-dist") }).read(textPdf([words]), limits, never());

    await expect(reading).rejects.toThrow(
      "reading of PDF files is not installed; send the text, or install it: svc plugins add-packages openai-http",
    );
  });
});

plainTest.each([
  [612, 792, 4_000_000, 200 / 72],
  [612, 792, 484_704, 1],
  [1_000_000, 1_000_000, 1_000_000, 0.001],
  [1_000_000, 1, 4_000_000, 0.008192],
])("a page of %i x %i and %i pixels is drawn at %f", (width, height, maxPixels, scale) => {
  expect(scaleOf(width, height, maxPixels)).toBeCloseTo(scale, 5);
});

/** The packages of this plugin, one of which is missing. */
function without(name: string): PluginVendor {
  const missing = () =>
    Promise.reject(commonErrors.missingDependency({ plugin: "openai-http", name, problem: "is not installed", advice: "install it" }));
  return { load: missing, resolve: (wanted) => (wanted === name ? missing() : vendor.resolve(wanted)) };
}

function scripted(): Buffer {
  const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>";
  return pdfOf([
    "<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(process.exit\\(7\\))>>>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    page,
    { dict: "", stream: `BT /F1 12 Tf 40 700 Td (${words}) Tj ET` },
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ]);
}

/** Kilobytes that hold one list of millions of dictionaries: 16 MB of text, and many times as much in memory. */
function objectBomb(): Buffer {
  return packedPdf(["<</Type/Catalog/Pages 3 0 R>>", `<</Type/Pages/Kids[${"<<>>".repeat(4_000_000)}]/Count 1>>`]);
}

/** Width and height of a baseline JPEG. */
function jpegSize(bytes: Uint8Array): [number, number] {
  const data = Buffer.from(bytes);
  let at = 2;
  while (data[at + 1] !== 0xc0 && data[at + 1] !== 0xc2) at += 2 + data.readUInt16BE(at + 2);
  return [data.readUInt16BE(at + 7), data.readUInt16BE(at + 5)];
}
