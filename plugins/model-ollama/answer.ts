import { randomBytes } from "node:crypto";
import { type ModelDelta, ModelError, type Usage, z } from "svc/sdk";
import { lineError } from "./faults.ts";

const count = z.number().int().min(0).max(1_000_000_000).catch(0);
const lineSchema = z.looseObject({
  error: z.string().optional(),
  status: z.unknown().optional(),
  message: z
    .looseObject({
      content: z.string().catch(""),
      thinking: z.string().catch(""),
      tool_calls: z
        .array(
          z.looseObject({ id: z.string().optional(), function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }) }),
        )
        .catch([]),
    })
    .optional(),
  done: z.boolean().optional(),
  done_reason: z.string().optional(),
  prompt_eval_count: count,
  eval_count: count,
});

/**
 * An answer of `POST /api/chat` in our words.
 * @param lines parsed
 * @throws what a line reports as an error, as if it had come with a status; a `ModelError` when the end is missing
 */
export async function* toDeltas(lines: AsyncIterable<unknown>): AsyncIterable<ModelDelta> {
  let hasCalls = false;
  const ids = new Set<string>();
  for await (const value of lines) {
    const read = lineSchema.safeParse(value);
    if (!read.success) throw new ModelError("network", "the answer could not be understood");
    const { error, status, message, done, done_reason: reason, prompt_eval_count: input, eval_count: output } = read.data;
    if (error !== undefined) throw lineError(error, status);
    if (message && message.thinking !== "") yield { type: "reasoning", delta: message.thinking, id: "0" };
    if (message && message.content !== "") yield { type: "text", delta: message.content };
    for (const call of message?.tool_calls ?? []) {
      const id = freeId(call.id, ids);
      hasCalls = true;
      yield { type: "toolCall", id, name: call.function.name, argsDelta: argsText(call.function.arguments) };
      yield { type: "toolCallEnd", id };
    }
    if (done) {
      yield { type: "usage", usage: toUsage(input, output) };
      yield { type: "finish", reason: reasonOf(reason, hasCalls) };
      return;
    }
  }
  throw new ModelError("network", "the answer ended without a finish");
}

/** The server's id where it is one that others take as well; older servers give none. */
function freeId(given: string | undefined, taken: Set<string>): string {
  const usable = given !== undefined && /^[\w-]{1,64}$/.test(given) && !taken.has(given);
  const id = usable ? given : `call_${randomBytes(9).toString("base64url")}`;
  taken.add(id);
  return id;
}

/** Calls come whole, their arguments as an object; some models make a text of them. */
function argsText(args: unknown): string {
  return typeof args === "string" ? args : (JSON.stringify(args) ?? "{}");
}

function toUsage(input: number, output: number): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}

/** Servers before 0.1.45 say nothing more than that it is over. */
function reasonOf(reason = "stop", hasCalls: boolean): Extract<ModelDelta, { type: "finish" }>["reason"] {
  if (reason === "length") return "length";
  if (reason !== "stop") return "other";
  return hasCalls ? "tool_calls" : "stop";
}
