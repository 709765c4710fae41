import type { MessagesModel, VendorRequest } from "./request.ts";

type Stream = Awaited<ReturnType<MessagesModel["doStream"]>>["stream"];
export type VendorPart = Stream extends ReadableStream<infer P> ? P : never;
type Finish = Extract<VendorPart, { type: "finish" }>;
type Usage = Finish["usage"];
type Prompt = VendorRequest["prompt"];
type Block = { type: "text" | "reasoning"; text: string; providerOptions?: NonNullable<VendorRequest["providerOptions"]> };
type AnswerPart = Extract<Prompt[number], { role: "assistant" }>["content"][number];

/** How often the vendor may pause a turn until that is its end. */
const MAX_PAUSES = 8;
/** Events that the answer cannot be read without. */
const needed: ReadonlySet<unknown> = new Set(["message_start", "message_delta", "message_stop", "error"]);

/**
 * The parts of one turn. A turn that the vendor pauses is sent back as far as it came, and goes on; events and blocks that the package does not know are
 * passed over, as the vendor asks its clients to.
 */
export async function* turnOf(open: (prompt: Prompt) => Promise<AsyncIterable<VendorPart>>, prompt: Prompt): AsyncIterable<VendorPart> {
  let usage: Usage | undefined;
  for (let round = 0; ; round++) {
    const answer = createAnswer();
    let finish: Finish | undefined;
    try {
      // Read to its end, so that the connection can be used again.
      for await (const part of await open(prompt)) {
        if (part.type === "finish") finish = part;
        else if (part.type !== "error" || !isUnknown(part.error)) {
          answer.take(part);
          yield round === 0 ? part : inRound(round, part);
        }
      }
    } catch (error) {
      // A connection that breaks behind the end of the answer breaks nothing.
      if (!finish) throw error;
    }
    if (!finish) return;
    usage = usage ? sum(usage, finish.usage) : finish.usage;
    const content = answer.content();
    if (finish.finishReason.raw !== "pause_turn") return yield { ...finish, usage };
    if (round === MAX_PAUSES || content.length === 0)
      return yield { ...finish, usage, finishReason: { unified: "other", raw: "pause_turn" } };
    prompt = [...prompt, { role: "assistant", content }];
  }
}

/** Blocks are numbered from zero in each part of a turn. */
function inRound(round: number, part: VendorPart): VendorPart {
  return part.type === "reasoning-start" || part.type === "reasoning-delta" || part.type === "reasoning-end"
    ? { ...part, id: `${round}:${part.id}` }
    : part;
}

function isUnknown(error: unknown): boolean {
  const { name, value } = error as { name?: unknown; value?: { type?: unknown } };
  return name === "AI_TypeValidationError" && typeof value?.type === "string" && !needed.has(value.type);
}

/** Collects a turn in the form in which it goes back. */
function createAnswer(): { take(part: VendorPart): void; content(): AnswerPart[] } {
  const blocks = new Map<string, Block>();
  const content: AnswerPart[] = [];
  const blockOf = (id: string, type: "text" | "reasoning") => {
    const block: Block = blocks.get(`${type} ${id}`) ?? { type, text: "" };
    if (!blocks.has(`${type} ${id}`)) content.push(block);
    blocks.set(`${type} ${id}`, block);
    return block;
  };
  return {
    take(part) {
      switch (part.type) {
        case "text-delta":
          blockOf(part.id, "text").text += part.delta;
          return;
        case "reasoning-start":
        case "reasoning-delta": {
          const block = blockOf(part.id, "reasoning");
          if (part.type === "reasoning-delta") block.text += part.delta;
          if (part.providerMetadata) block.providerOptions = part.providerMetadata;
          return;
        }
        default:
      }
    },
    content: () => content,
  };
}

function sum(a: Usage, b: Usage): Usage {
  const add = (x: number | undefined, y: number | undefined) => (x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0));
  const { inputTokens: i, outputTokens: o } = a;
  return {
    inputTokens: {
      total: add(i.total, b.inputTokens.total),
      noCache: add(i.noCache, b.inputTokens.noCache),
      cacheRead: add(i.cacheRead, b.inputTokens.cacheRead),
      cacheWrite: add(i.cacheWrite, b.inputTokens.cacheWrite),
    },
    outputTokens: {
      total: add(o.total, b.outputTokens.total),
      text: add(o.text, b.outputTokens.text),
      reasoning: add(o.reasoning, b.outputTokens.reasoning),
    },
  };
}
