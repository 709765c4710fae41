import type { LocalChatPiece, LocalChatRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { answerTokens, chooseSeat, createChat } from "./chat-turns.ts";
import type { GenerateOptions, LlamaLibrary, LlamaSequence } from "./llama-library.ts";
import type { Progress } from "./messages.ts";

describe("room for an answer", () => {
  test.each([
    [{ prompt: 100, window: 1_000, asked: 50 }, 50],
    [{ prompt: 100, window: 1_000, asked: 5_000 }, 884],
    [{ prompt: 100, window: 1_000, asked: undefined }, 884],
    [{ prompt: 920, window: 1_000, asked: undefined }, 64],
    [{ prompt: 974, window: 1_000, asked: 10 }, 10],
  ])("%j is %i tokens", (sizes, tokens) => expect(answerTokens(sizes)).toBe(tokens));

  test("one token more than fits is refused with the numbers", () => {
    const message = "the conversation has 921 tokens, and the model's context window is 1000 with at least 64 for the answer";
    expect(() => answerTokens({ prompt: 921, window: 1_000, asked: undefined })).toThrow(
      expect.objectContaining({ fault: "too-long", message }),
    );
    expect(() => answerTokens({ prompt: 975, window: 1_000, asked: 10 })).toThrow("975 tokens");
  });
});

test("a conversation keeps its seat; a new one takes the one that was not used for longest; without a name what was read decides", () => {
  const seat = (cacheKey: string | undefined, usedAt: number, isBusy = false) => ({ cacheKey, usedAt, isBusy });
  const known = ({ usedAt }: { usedAt: number }) => usedAt * 10;
  const [a, b] = [seat("a", 1), seat("b", 2)];
  expect(chooseSeat([a, b], "b", known)).toBe(b);
  expect(chooseSeat([a, b], "c", known)).toBe(a);
  expect(chooseSeat([a, b], undefined, known)).toBe(a);
  const [c, d] = [seat(undefined, 1), seat(undefined, 2)];
  expect(chooseSeat([c, d], undefined, known)).toBe(d);
  expect(chooseSeat([seat("a", 1, true), b], "a", known)).toBe(b);
  expect(() => chooseSeat([seat("a", 1, true)], "a", known)).toThrow("more answers");
});

/** A library whose words are tokens, and whose answer is `generate`. */
function chatWith(generate: (options: GenerateOptions, sequence: LlamaSequence) => Promise<unknown>, window = 1_000) {
  const read: number[] = [];
  const sequence = {
    nextTokenIndex: 0,
    contextSize: window,
    tokenMeter: {
      getState: () => ({ usedInputTokens: 0, usedOutputTokens: 0 }),
      diff: () => ({ usedInputTokens: 0, usedOutputTokens: 3 }),
    },
    compareContextTokens: () => ({ firstDifferentIndex: 0 }),
    adaptStateToTokens: async () => undefined,
    async evaluateWithoutGeneratingNewTokens(tokens: number[]) {
      read.push(tokens.length);
      sequence.nextTokenIndex += tokens.length;
    },
  };
  class LlamaChat {
    chatWrapper = {
      generateContextState: ({ chatHistory }: { chatHistory: unknown[] }) => ({
        contextText: {
          tokenize: () =>
            JSON.stringify(chatHistory)
              .split(" ")
              .map((_, i) => i),
        },
      }),
    };
    generateResponse = (_history: unknown, options: GenerateOptions) => generate(options, sequence);
  }
  const chat = createChat({
    library: { LlamaChat } as unknown as LlamaLibrary,
    llama: { gpu: false } as never,
    model: { tokenizer: undefined } as never,
    context: { contextSize: window, getSequence: () => sequence },
    sequences: 1,
  });
  const pieces: LocalChatPiece[] = [];
  const answer = (
    request: Partial<LocalChatRequest>,
    { signal = new AbortController().signal, onProgress = (_: Progress) => undefined as unknown } = {},
  ) =>
    chat.answer(
      { history: [{ type: "user", text: "hi" }], sampling: {}, ...request },
      {
        signal,
        progress: (progress) => {
          if ("piece" in progress) pieces.push(progress.piece);
          onProgress(progress);
        },
      },
    );
  return { answer, pieces, read };
}

describe("an answer", () => {
  test("calls and reasoning come in pieces, complete calls with the end", async () => {
    const { answer, pieces } = chatWith(async ({ onResponseChunk, onFunctionCallParamsChunk }) => {
      onResponseChunk({ type: "segment", segmentType: "thought", text: "hm", tokens: [1, 2] });
      onResponseChunk({ type: "segment", segmentType: "comment", text: "unseen", tokens: [3] });
      onFunctionCallParamsChunk?.({ callIndex: 0, functionName: "look", paramsChunk: '{"a":1}' });
      return { functionCalls: [{ functionName: "look", params: { a: 1 }, raw: ["r"] }], metadata: { stopReason: "functionCalls" } };
    });
    await answer({ functions: { look: { description: "" } } });
    expect(pieces).toEqual([
      { type: "thought", text: "hm" },
      { type: "call", index: 0, name: "look", text: '{"a":1}' },
      {
        type: "finish",
        reason: "calls",
        calls: [{ name: "look", params: { a: 1 }, raw: ["r"] }],
        usage: { prompt: 1, cached: 0, output: 3, thought: 2 },
      },
    ]);
  });

  test.each([
    ["eogToken", "stop"],
    ["stopGenerationTrigger", "stop"],
    ["customStopTrigger", "stop"],
    ["maxTokens", "length"],
  ])("that ended with %s ended with %s", async (stopReason, reason) => {
    const { answer, pieces } = chatWith(async () => ({ metadata: { stopReason } }));
    await answer({});
    expect(pieces).toMatchObject([{ type: "finish", reason }]);
  });

  test("that fills the window ends there, before the library would forget the beginning of the conversation", async () => {
    const { answer, pieces } = chatWith(async ({ onResponseChunk, signal }, sequence) => {
      sequence.nextTokenIndex = 997;
      onResponseChunk({ text: "last", tokens: [1] });
      signal.throwIfAborted();
      return { metadata: { stopReason: "eogToken" } };
    });
    await answer({});
    expect(pieces).toMatchObject([
      { type: "text", text: "last" },
      { type: "finish", reason: "length" },
    ]);
  });

  test("a long prompt is read in parts, and an abort between two of them ends it there", async () => {
    const history = [{ type: "user" as const, text: "word ".repeat(300) }];
    const whole = chatWith(async () => ({ metadata: { stopReason: "eogToken" } }));
    await whole.answer({ history });
    expect(whole.read).toEqual([64, 64, 64, 64, 44]);

    const stop = new AbortController();
    const cut = chatWith(async () => ({ metadata: { stopReason: "eogToken" } }));
    const onProgress = () => stop.abort(new Error("stopped"));
    await expect(cut.answer({ history }, { signal: stop.signal, onProgress })).rejects.toThrow("stopped");
    expect(cut.read).toEqual([64]);
    await cut.answer({});
    expect(cut.pieces).toMatchObject([{ type: "finish" }]);
  });

  test("what the request says of sampling reaches the library", async () => {
    let seen: Partial<GenerateOptions> = {};
    const { answer } = chatWith(async (options) => {
      seen = options;
      return { metadata: { stopReason: "eogToken" } };
    });
    const sampling = {
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      minP: 0.1,
      seed: 7,
      stop: ["x"],
      repeatPenalty: 1.2,
      presencePenalty: 0.3,
      thoughtTokens: 9,
    };
    await answer({ sampling, functions: { look: { description: "" } }, parallelCalls: false });
    expect(seen).toMatchObject({
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      minP: 0.1,
      seed: 7,
      customStopTriggers: ["x"],
      repeatPenalty: { penalty: 1.2, presencePenalty: 0.3 },
      budgets: { thoughtTokens: 9 },
      maxParallelFunctionCalls: 1,
      documentFunctionParams: true,
    });
  });
});
