import { definePlugin, type ModelInput, type ModelMessage, type ModelProvider } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, describe as plainDescribe } from "vitest";
import { encryptedPdf, scannedPdf, textPdf } from "../../test/fixtures/pdf.ts";
import { needsPackages } from "../../test/servers/vendored.ts";

/** PDF files and recordings on both APIs, from the request to what the model gets. */

const { test } = await needsPackages("openai-http");

const words = "Where is the router? In the cellar, behind the boiler, on the left.";
const inputs: Record<string, ModelInput[] | undefined> = {
  pictures: ["text", "image"],
  all: ["text", "image", "pdf", "audio"],
  silent: undefined,
};
const told: Array<{ system: string; messages: ModelMessage[] }> = [];
const lab: ModelProvider = {
  ...fakeModel(["ok"]),
  id: "lab",
  defaultModel: "pictures",
  models: () => Object.entries(inputs).map(([id, input]) => ({ id, ...(input ? { input } : {}) })),
  async *stream({ system, messages }) {
    told.push({ system, messages });
    yield { type: "text", delta: "ok" };
    yield { type: "finish", reason: "stop" };
  },
};

let gateway: TestGateway;
beforeAll(async () => {
  const models = definePlugin<unknown>({
    id: "lab-models",
    version: "1.0.0",
    svc: { api: "*" },
    setup: (ctx) => void ctx.registerModelProvider(lab),
  });
  const pdf = { maxPages: 2, maxPixels: 90_000, minTextChars: 60 };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "openai-http", models],
    config: { gateway: { http: { endpoints: { responses: { files: { pdf } } } } } },
  });
});
afterAll(() => gateway?.close());
beforeEach(() => {
  told.length = 0;
});

const dataUrl = (pdf: Buffer) => `data:application/pdf;base64,${pdf.toString("base64")}`;
/** The same file as a part of either API. */
const apis = {
  "/v1/responses": (pdf: Buffer) => ({
    input: [{ type: "message", role: "user", content: [{ type: "input_file", filename: "a.pdf", file_data: dataUrl(pdf) }] }],
  }),
  "/v1/chat/completions": (pdf: Buffer) => ({
    messages: [{ role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: dataUrl(pdf) } }] }],
  }),
};

async function post(path: string, body: object, model = "pictures"): Promise<[number, string]> {
  const headers = { "x-svc-model": `lab/${model}` };
  const response = await gateway.fetch(path, { method: "POST", headers, body: JSON.stringify({ model: "svc", ...body }) });
  const { error } = (await response.json()) as { error?: { message: string } | null };
  return [response.status, error?.message ?? ""];
}
/** Parts of the one user message that the model got. */
const parts = () => told[0]?.messages.flatMap((message) => (message.role === "user" ? message.content : []));

plainDescribe.each(Object.entries(apis))("%s", (path, bodyOf) => {
  test("the text of a PDF enters the prompt of its run, framed, up to the configured page", async () => {
    expect(await post(path, bodyOf(textPdf([words, "page two", "page three"])))).toEqual([200, ""]);

    expect(told[0]?.system).toMatch(
      /Source: File\nSubject: a\.pdf\n---\nWhere is the router\?.*left\.\n\npage two\n\[1 of 3 pages left out\]\n<<<END/s,
    );
    expect(parts()).toEqual([{ type: "text", text: "User sent file(s) with no text." }]);
  });

  test("a scanned PDF comes as pictures of its pages", async () => {
    expect(await post(path, bodyOf(scannedPdf(3)))).toEqual([200, ""]);

    expect(told[0]?.system).toContain("---\n[PDF content rendered to images]\n[1 of 3 pages left out]\n<<<END");
    const picture = { type: "image", mimeType: "image/jpeg", data: expect.stringMatching(/^\/9j\//) };
    expect(parts()).toEqual([{ type: "text", text: "User sent file(s) with no text." }, picture, picture]);
  });

  test("a model that reads PDF files gets the file, one that says nothing does not", async () => {
    const pdf = encryptedPdf("", words);
    await post(path, bodyOf(pdf), "all");
    await post(path, bodyOf(pdf), "silent");

    expect(parts()?.at(-1)).toEqual({ type: "file", mimeType: "application/pdf", data: pdf.toString("base64"), fileName: "a.pdf" });
    expect(told.map(({ system }) => system.includes("behind the boiler"))).toEqual([false, true]);
  });

  test("an encrypted PDF is refused by name, before anything runs", async () => {
    const [status, message] = await post(path, bodyOf(encryptedPdf("secret", words)));

    expect([status, message]).toEqual([
      400,
      expect.stringMatching(/^(?:input|messages)\.0\.content\.0.*: the PDF is encrypted; send it without/),
    ]);
    expect(told).toEqual([]);
  });

  test("what is no PDF is an invalid request", async () => {
    expect(await post(path, bodyOf(Buffer.from("PK, an archive")))).toEqual([400, expect.stringMatching(/^[Ii]nvalid/)]);
  });
});

test("a recording goes to a model that takes audio, and is refused for another", async () => {
  const content = [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }];
  const body = { messages: [{ role: "user", content }] };

  expect(await post("/v1/chat/completions", body, "all")).toEqual([200, ""]);
  expect(parts()?.at(-1)).toEqual({ type: "file", mimeType: "audio/wav", data: "UklGRg==" });
  expect(await post("/v1/chat/completions", body)).toEqual([400, expect.stringContaining("the model does not take audio")]);
});

test("the PDF of an earlier turn that the client sends again is read again", async () => {
  const [first] = apis["/v1/chat/completions"](textPdf([words])).messages;
  await post("/v1/chat/completions", { messages: [first, { role: "assistant", content: "Yes." }, { role: "user", content: "And?" }] });

  expect(told[0]?.system).toContain("behind the boiler");
});
