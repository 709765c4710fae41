import { commonErrors, type MessageBlock } from "svc/sdk";
import { expect, test } from "vitest";
import { readAudio, readFiles } from "./files.ts";
import type { PdfContent } from "./pdf/job.ts";
import { PdfRefusal } from "./pdf/reader.ts";
import type { Turn } from "./prompt.ts";
import type { MediaPart } from "./responses/content.ts";
import type { MediaOptions } from "./responses/media.ts";

const limits: MediaOptions["limits"] = {
  enabled: true,
  maxUrlParts: 8,
  images: { allowUrl: false, urlAllowlist: [] },
  files: {
    ...{ allowUrl: false, urlAllowlist: [], allowedMimes: ["text/csv", "application/pdf"], maxBytes: 100, maxChars: 50 },
    ...{ maxRedirects: 0, timeoutMs: 1_000, pdf: { maxPages: 4, maxPixels: 1_000, minTextChars: 200 } },
  },
};
const empty: PdfContent = { text: "", chars: 0, pages: 1, leftOut: 0, pictures: [] };
const partOf = (text: string, mime: string, filename = "a"): MediaPart => ({
  kind: "file",
  path: "messages.0.content.1.file",
  from: { data: Buffer.from(text).toString("base64"), mime },
  filename,
});
const leftOut = { type: "file", mimeType: "application/octet-stream", data: "" };
const csv = (text: string) => partOf(text, "text/csv");
const pdf = partOf("%PDF-1.7", "application/pdf");

/** Reads the files of a turn behind earlier ones of one file each. */
async function read(files: MediaPart[], earlier: MediaPart[] = [], { content = empty as PdfContent | Error, readsPdf = false } = {}) {
  const turns = earlier.map((part) => ({
    part,
    turn: { role: "user" as const, content: [{ type: "text", text: "see" }] as MessageBlock[] },
  }));
  const reasons: string[] = [];
  const found = await readFiles(
    { files, earlierFiles: turns satisfies Turn["earlierFiles"] },
    {
      limits,
      signal: new AbortController().signal,
      pdf: { read: async () => (content instanceof Error ? Promise.reject(content) : content) },
      readsPdf: async () => readsPdf,
      refused: (reason) => void reasons.push(reason),
    },
  ).catch((error: Error) => error.message);
  return { found, reasons, behind: turns.map(({ turn }) => turn.content.slice(1)) };
}

test("files of the present turn and of earlier ones are texts for the prompt, in their order", async () => {
  const { found } = await read([csv("3"), csv("4")], [csv("1"), csv("2")]);

  expect(typeof found === "string" ? found : found.texts.map((text) => /---\n(.*)\n<<<END/s.exec(text)?.[1])).toEqual(["1", "2", "3", "4"]);
});

test("a PDF goes as it is to a model that reads it, an earlier one as what can be read of it", async () => {
  const content = { ...empty, pictures: [Buffer.from("page")] };
  const { found, behind } = await read([pdf], [pdf], { content, readsPdf: true });

  const picture = { type: "image", mimeType: "image/jpeg", data: Buffer.from("page").toString("base64") };
  expect(found).toMatchObject({
    texts: [expect.stringContaining("[PDF content rendered to images]")],
    attachments: [{ type: "file", mimeType: "application/pdf", fileName: "a" }],
  });
  expect(behind).toEqual([[picture]]);
});

test("an earlier PDF goes again as it is to a model that reads it where reading PDF files is not installed, and else is a note", async () => {
  const content = new PdfRefusal("not-installed");
  const file = { type: "file", mimeType: "application/pdf", data: Buffer.from("%PDF-1.7").toString("base64"), fileName: "a" };

  expect((await read([], [pdf], { content, readsPdf: true })).behind).toEqual([[file]]);
  expect((await read([], [pdf], { content })).behind).toEqual([[leftOut]]);
  expect((await read([], [pdf], { content: new PdfRefusal("encrypted"), readsPdf: true })).behind).toEqual([[leftOut]]);
});

test("too many PDF files at the same time are no fault of an earlier file: the request is busy", async () => {
  expect((await read([], [pdf], { content: commonErrors.busy() })).found).toBe(commonErrors.busy().message);
});

test("a file of the present turn that cannot be read refuses the request; an earlier one is a note", async () => {
  const content = new PdfRefusal("encrypted");
  expect(await read([pdf], [], { content })).toMatchObject({
    found: "messages.0.content.1.file: the PDF is encrypted; send it without a password",
  });
  expect(await read([partOf("PK", "application/zip")])).toMatchObject({
    found: "Invalid file content in `messages`.",
    reasons: ["messages.0.content.1.file: type application/zip is not allowed"],
  });
  expect(await read([], [pdf, csv("1")], { content })).toMatchObject({
    found: { texts: [expect.stringContaining("1")] },
    behind: [[leftOut], []],
  });
});

test("twenty files are read; of earlier ones the newest", async () => {
  const twenty = Array.from({ length: 20 }, () => csv("1"));

  expect((await read(twenty)).found).toMatchObject({ texts: expect.objectContaining({ length: 20 }) });
  expect((await read([...twenty, csv("1")])).reasons).toEqual(["messages: 21 files; at most 20"]);
  expect((await read([csv("0")], twenty)).behind.map((content) => content.length)).toEqual([1, ...Array(19).fill(0)]);
});

test("recordings go to a model that takes audio, and are refused by name for another", async () => {
  const part = { path: "messages.0.content.0.input_audio", mimeType: "audio/mpeg", data: "AAAA" };
  const answer = (data: string, takes: boolean) => readAudio([{ ...part, data }], async () => takes).catch((error: Error) => error.message);

  expect(await answer("AAAA", true)).toEqual([{ type: "file", mimeType: "audio/mpeg", data: "AAAA" }]);
  expect(await answer("*", true)).toBe("messages.0.content.0.input_audio.data: not valid base64");
  const many = (count: number) => readAudio(Array(count).fill(part), async () => true).catch((error: Error) => error.message);
  expect([await many(20), await many(21)]).toEqual([expect.objectContaining({ length: 20 }), "messages: 21 recordings; at most 20"]);
  expect(await answer("AAAA", false)).toContain("messages.0.content.0.input_audio: the model does not take audio");
});
