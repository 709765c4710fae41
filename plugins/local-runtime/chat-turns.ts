import type { LocalChatPiece, LocalChatRequest } from "svc/sdk";
import { Fault, found } from "./fault.ts";
import { toChatItems, toFinishReason, toSamplingOptions } from "./llama-chat.ts";
import type { ChatItem, ChatResponse, Llama, LlamaChat, LlamaContext, LlamaLibrary, LlamaModel, LlamaSequence } from "./llama-library.ts";
import type { Progress } from "./messages.ts";

/** A model for chat, in the process that runs it. */
export interface LoadedChat {
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number;
  /** Tells the pieces of one answer; the last one is `finish`. @throws {Fault} and the reason of the signal */
  answer(request: LocalChatRequest, run: Run): Promise<void>;
}

interface Run {
  signal: AbortSignal;
  progress(progress: Progress): void;
}

interface Parts {
  library: LlamaLibrary;
  llama: Llama;
  model: LlamaModel;
  context: LlamaContext;
  sequences: number;
}

/** A sequence of the context: it answers one request at a time, and what it has read of a conversation stays. */
interface Seat {
  sequence: LlamaSequence;
  chat: LlamaChat;
  /** Conversation that it holds. */
  cacheKey: string | undefined;
  isBusy: boolean;
  usedAt: number;
}

/** An answer shorter than that is of no use; a request for less gets less. */
const MIN_ANSWER_TOKENS = 64;
/** Tokens that the library adds by itself around calls and at the end. */
const RESERVED_TOKENS = 16;
/** Tokens of a prompt that are read without a look at the signal: some seconds on a slow processor. */
const READ_TOKENS = 64;
const READ_TOKENS_GPU = 512;

export function createChat(parts: Parts): LoadedChat {
  const { library, context, sequences } = parts;
  const seats = Array.from({ length: sequences }, (): Seat => {
    const sequence = context.getSequence();
    return { sequence, chat: new library.LlamaChat({ contextSequence: sequence }), cacheKey: undefined, isBusy: false, usedAt: 0 };
  });
  const [first] = seats as [Seat];
  let uses = 0;
  return {
    contextWindow: first.sequence.contextSize,
    async answer(request, run) {
      const history = toChatItems(request.history);
      const prompt = tokensOf(history, request, { chat: first.chat, model: parts.model });
      const maxTokens = answerTokens({ prompt: prompt.length, window: first.sequence.contextSize, asked: request.sampling.maxTokens });
      const known = (seat: Seat) => seat.sequence.compareContextTokens(prompt).firstDifferentIndex;
      const seat = chooseSeat(seats, request.cacheKey, known);
      Object.assign(seat, { isBusy: true, cacheKey: request.cacheKey, usedAt: ++uses });
      try {
        await new Turn(parts, seat, { request, run }).answer({ history, prompt, maxTokens });
      } finally {
        seat.isBusy = false;
      }
    },
  };
}

/** The prompt as the library will read it. */
function tokensOf(
  chatHistory: ChatItem[],
  { functions }: LocalChatRequest,
  { chat, model }: { chat: LlamaChat; model: LlamaModel },
): number[] {
  const state = chat.chatWrapper.generateContextState({
    chatHistory,
    ...(functions ? { availableFunctions: functions, documentFunctionParams: true } : {}),
  });
  return state.contextText.tokenize(model.tokenizer);
}

/**
 * The seat of this conversation; for a new one, the seat that was not used for longest; for a request that names none, the one that has read most of its
 * prompt. Pure.
 * @param known number of tokens of the prompt that a seat has read
 */
export function chooseSeat<S extends Pick<Seat, "cacheKey" | "isBusy" | "usedAt">>(
  seats: readonly S[],
  cacheKey: string | undefined,
  known: (seat: S) => number,
): S {
  const free = seats.filter(({ isBusy }) => !isBusy).sort((a, b) => a.usedAt - b.usedAt);
  const own =
    cacheKey === undefined
      ? free.toSorted((a, b) => known(b) - known(a)).find((seat) => seat.cacheKey === undefined && known(seat) > 1)
      : free.find((seat) => seat.cacheKey === cacheKey);
  const seat = own ?? free[0];
  if (!seat) throw new Fault("bad-response", "more answers were asked for at a time than the model has places for");
  return seat;
}

class Turn {
  readonly #parts: Parts;
  readonly #seat: Seat;
  readonly #request: LocalChatRequest;
  readonly #run: Run;
  /** Ends an answer that has filled the context: the library would forget the beginning of the conversation without a word. */
  readonly #full = new AbortController();
  #thoughtTokens = 0;

  constructor(parts: Parts, seat: Seat, { request, run }: { request: LocalChatRequest; run: Run }) {
    this.#parts = parts;
    this.#seat = seat;
    this.#request = request;
    this.#run = run;
  }

  async answer({ history, prompt, maxTokens }: { history: ChatItem[]; prompt: number[]; maxTokens: number }): Promise<void> {
    const { sequence } = this.#seat;
    const before = sequence.tokenMeter.getState();
    const cached = await this.#read(prompt);
    const response = await this.#generate(history, maxTokens);
    this.#tell({
      type: "finish",
      reason: response === "full" ? "length" : toFinishReason(response.metadata.stopReason),
      calls:
        response === "full"
          ? []
          : (response.functionCalls ?? []).map(({ functionName, params, raw }) => ({ name: functionName, params, raw })),
      usage: {
        prompt: prompt.length,
        cached,
        output: sequence.tokenMeter.diff(before).usedOutputTokens,
        thought: this.#thoughtTokens,
      },
    });
  }

  #tell(piece: LocalChatPiece): void {
    this.#run.progress({ piece });
  }

  /** Reads the prompt but for its last token, in parts: the library itself looks at no signal before the whole of it is read. @returns how much was known */
  async #read(prompt: number[]): Promise<number> {
    const { sequence } = this.#seat;
    const end = prompt.length - 1;
    const step = this.#parts.llama.gpu === false ? READ_TOKENS : READ_TOKENS_GPU;
    await sequence.adaptStateToTokens(prompt.slice(0, end), false);
    const known = sequence.nextTokenIndex;
    while (sequence.nextTokenIndex < end) {
      this.#run.signal.throwIfAborted();
      const from = sequence.nextTokenIndex;
      await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(from, Math.min(from + step, end)));
      if (sequence.nextTokenIndex <= from) break;
      this.#run.progress({ reading: true });
    }
    return known;
  }

  async #generate(history: ChatItem[], maxTokens: number): Promise<ChatResponse | "full"> {
    const { functions, parallelCalls, sampling } = this.#request;
    const grammar = await this.#grammar();
    try {
      return await this.#seat.chat.generateResponse(history, {
        ...toSamplingOptions(sampling),
        signal: AbortSignal.any([this.#run.signal, this.#full.signal]),
        maxTokens,
        ...(grammar === undefined ? {} : { grammar }),
        ...(functions ? { functions, documentFunctionParams: true } : {}),
        ...(functions && parallelCalls === false ? { maxParallelFunctionCalls: 1 } : {}),
        onResponseChunk: ({ type, segmentType, text, tokens }) => {
          this.#checkRoom();
          if (type === "segment" && segmentType === "thought") this.#thoughtTokens += tokens.length;
          if (text !== "" && (type === undefined || segmentType === "thought")) this.#tell({ type: type ? "thought" : "text", text });
        },
        ...(functions
          ? {
              onFunctionCallParamsChunk: ({ callIndex, functionName, paramsChunk }) => {
                this.#checkRoom();
                this.#tell({ type: "call", index: callIndex, name: functionName, text: paramsChunk });
              },
            }
          : {}),
      });
    } catch (error) {
      if (this.#full.signal.aborted && !this.#run.signal.aborted) return "full";
      throw error;
    }
  }

  #checkRoom(): void {
    const { sequence } = this.#seat;
    if (sequence.nextTokenIndex >= sequence.contextSize - 3) this.#full.abort(new Error("the context is full"));
  }

  async #grammar(): Promise<unknown> {
    const { json } = this.#request;
    const { llama } = this.#parts;
    if (json === undefined) return undefined;
    return found("the schema of the answer cannot be used", () =>
      json === true ? llama.getGrammarFor("json") : llama.createGrammarForJsonSchema(json),
    ).catch((error: Error) => {
      throw new Fault("invalid-request", error.message);
    });
  }
}

/**
 * Longest answer that the context has room for beside the prompt. Pure.
 * @throws {Fault} `too-long` that names the numbers
 */
export function answerTokens({ prompt, window, asked }: { prompt: number; window: number; asked: number | undefined }): number {
  const room = window - prompt - RESERVED_TOKENS;
  const least = Math.min(asked ?? MIN_ANSWER_TOKENS, MIN_ANSWER_TOKENS);
  if (room >= least) return Math.min(asked ?? room, room);
  throw new Fault(
    "too-long",
    `the conversation has ${prompt} tokens, and the model's context window is ${window} with at least ${least} for the answer`,
  );
}
