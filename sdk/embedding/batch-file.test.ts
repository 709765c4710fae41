import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createBatchFile, formWithFile } from "./batch-file.ts";

const line = (text: string, id: string) => ({ id, text });

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString("utf8");
}

test("a file has a line for each text, and is known by length and hash before it is sent", async () => {
  const texts = Array.from({ length: 3_000 }, (_, i) => `text ${i} ${"é".repeat(200)}`);
  const file = await createBatchFile({ adapter: "acme", texts, line, maxBytes: 10_000_000 });

  const text = await textOf(file.chunks());

  expect(text).toBe(texts.map((one, i) => `${JSON.stringify({ id: String(i), text: one })}\n`).join(""));
  expect(file.bytes).toBe(Buffer.byteLength(text));
  expect(file.digest).toBe(createHash("sha256").update(text).digest("hex"));
  expect(await textOf(file.chunks())).toBe(text);
});

test("a file may be as long as the vendor takes, and not longer", async () => {
  const { bytes } = await createBatchFile({ adapter: "acme", texts: ["a", "b"], line, maxBytes: 1_000 });
  expect(await createBatchFile({ adapter: "acme", texts: ["a", "b"], line, maxBytes: bytes })).toMatchObject({ bytes });
  await expect(createBatchFile({ adapter: "acme", texts: ["a", "b"], line, maxBytes: bytes - 1 })).rejects.toMatchObject({
    fault: "too-long",
  });
});

test("a form holds its fields and the file, and its length is right", async () => {
  const file = await createBatchFile({ adapter: "acme", texts: ["a"], line, maxBytes: 1_000 });
  const { body, headers } = formWithFile({ purpose: "batch" }, { field: "file", name: "x.jsonl", type: "application/jsonl", ...file });
  if (typeof body !== "object" || !("chunks" in body)) throw new Error("expected a body in pieces");
  const text = await textOf(body.chunks);

  expect(Buffer.byteLength(text)).toBe(body.bytes);
  const form = await new Response(text, { headers }).formData();
  expect(form.get("purpose")).toBe("batch");
  expect(await (form.get("file") as File).text()).toBe('{"id":"0","text":"a"}\n');
});
