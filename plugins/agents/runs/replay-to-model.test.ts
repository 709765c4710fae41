import { expect, test } from "vitest";
import { forModel, type PromptMessage } from "./replay-to-model.ts";

const writtenBy = { provider: "acme", model: "deep" };
const meta = { acme: { signature: "s" } };
const oddId = "call|1/2";
const answer: PromptMessage = {
  role: "assistant",
  writtenBy,
  content: [
    { type: "reasoning", text: "Hm.", meta },
    { type: "reasoning", text: "", redacted: true, meta },
    { type: "text", text: "Let me look.", meta },
    { type: "toolCall", id: oddId, name: "find", args: {}, meta },
  ],
};
const result: PromptMessage = { role: "tool", toolCallId: oddId, name: "find", text: "found" };

test("the model that wrote an answer gets it back untouched", () => {
  const { writtenBy: _, ...untouched } = answer;
  expect(forModel([answer, result], writtenBy)).toEqual([untouched, result]);
});

test.each([
  ["another provider", answer, { provider: "bolt", model: "deep" }],
  ["another model of the provider", answer, { provider: "acme", model: "fast" }],
  ["a model, from nobody knows which", { role: "assistant" as const, content: answer.content as never }, writtenBy],
])("%s gets neither reasoning nor data of the vendor, and ids that it takes", (_name, given, reader) => {
  const [said, found] = forModel([given, result], reader);
  expect(said).toEqual({
    role: "assistant",
    content: [
      { type: "text", text: "Let me look." },
      { type: "toolCall", id: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: "find", args: {} },
    ],
  });
  expect(found).toMatchObject({ toolCallId: (said as { content: Array<{ id?: string }> }).content[1]?.id });
});

test("texts that follow each other, also where reasoning was taken out between them, stay lines", () => {
  const text = (words: string) => ({ type: "text" as const, text: words });
  const said: PromptMessage = {
    role: "assistant",
    writtenBy,
    content: [text("One."), { type: "reasoning", text: "Hm." }, text("Two."), text("Three.")],
  };
  expect(forModel([said], { provider: "bolt", model: "deep" })).toEqual([{ role: "assistant", content: [text("One.\nTwo.\nThree.")] }]);
  expect((forModel([said], writtenBy)[0] as { content: unknown[] }).content).toHaveLength(3);
  const signed: PromptMessage = { role: "assistant", writtenBy, content: [text("One."), { ...text("Two."), meta }] };
  expect(forModel([signed], writtenBy)).toEqual([{ role: "assistant", content: signed.content }]);
});

test("ids that every vendor takes stay, and the same id is replaced by the same", () => {
  const call = (id: string): PromptMessage => ({ role: "assistant", content: [{ type: "toolCall", id, name: "find", args: {} }] });
  const ids = forModel([call("a-1_B"), call(oddId), call(oddId)], writtenBy).map(
    (m) => (m as { content: Array<{ id: string }> }).content[0]?.id,
  );
  expect(ids[0]).toBe("a-1_B");
  expect(ids[1]).toBe(ids[2]);
});

test("a model gets the media that it reads, and a note for the rest", () => {
  const image = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
  const pdf = { type: "file" as const, mimeType: "application/pdf", data: "AAAA", fileName: "a.pdf" };
  const audio = { type: "file" as const, mimeType: "audio/wav", data: "AAAA" };
  const shown = (input: Array<"text" | "image" | "pdf" | "audio"> | undefined) => {
    const [message] = forModel([{ role: "user", content: [image, pdf, audio] }], { ...writtenBy, input });
    return (message as { content: Array<{ type: string; text?: string }> }).content.map(({ type, text }) => text ?? type);
  };
  const [noPdf, noAudio] = ["[file a.pdf, which this model cannot read]", "[file audio/wav, which this model cannot read]"];
  expect(shown(["text"])).toEqual(["[image, which this model cannot see]", noPdf, noAudio]);
  expect(shown(["text", "image", "pdf", "audio"])).toEqual(["image", "file", "file"]);
  expect(shown(undefined)).toEqual(["image", noPdf, noAudio]);
});

test("pictures of results follow their group for a model that sees, and are a note for others", () => {
  const picture = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
  const shown: PromptMessage = { role: "tool", toolCallId: "c1", name: "read", text: "a.png", images: [picture] };
  const other: PromptMessage = { role: "tool", toolCallId: "c2", name: "find", text: "found" };
  const question: PromptMessage = { role: "user", content: [{ type: "text", text: "And now?" }] };
  const sees = { ...writtenBy, input: ["text", "image"] as const };
  const pictures = { role: "user", content: [{ type: "text", text: "[pictures in the result of read]" }, picture] };
  const plain = { role: "tool", toolCallId: "c1", name: "read", text: "a.png" };
  expect(forModel([shown, other], sees)).toEqual([plain, other, pictures]);
  expect(forModel([shown, question], sees)).toEqual([plain, { role: "user", content: [...pictures.content, ...question.content] }]);
  expect(forModel([shown], writtenBy)).toEqual([{ ...plain, text: "a.png\n[image, which this model cannot see]" }]);
});
