import { z } from "zod";

const toolCall = z.strictObject({
  id: z.string().min(1).optional(),
  function: z.strictObject({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()) }),
});

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.string(), images: z.array(z.base64()).min(1).optional() }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    thinking: z.string().min(1).optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), content: z.string(), tool_name: z.string().min(1), tool_call_id: z.string().min(1) }),
]);

/** The part of `ChatRequest` (`api/types.go` of ollama/ollama) that is used; nothing else may come, and nothing may be cut silently. */
const request = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.literal(true),
  truncate: z.literal(false),
  shift: z.literal(false),
  keep_alive: z.union([z.string(), z.number()]).optional(),
  think: z.union([z.boolean(), z.enum(["low", "medium", "high", "max"])]).optional(),
  format: z.union([z.literal("json"), z.looseObject({ type: z.string() })]).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string().min(1),
          description: z.string(),
          parameters: z.looseObject({ type: z.literal("object") }),
        }),
      }),
    )
    .min(1)
    .optional(),
  options: z.strictObject({
    num_ctx: z.int().positive(),
    num_predict: z.int().optional(),
    temperature: z.number().optional(),
    top_p: z.number().optional(),
    top_k: z.number().optional(),
    seed: z.int().optional(),
    stop: z.array(z.string()).optional(),
    frequency_penalty: z.number().optional(),
    presence_penalty: z.number().optional(),
  }),
});
export type OllamaRequest = z.infer<typeof request>;

/** Checks a request more strictly than the server does, which passes over what it does not know. */
export function checkOllamaRequest(body: unknown): { request: OllamaRequest } | { problem: string } {
  const parsed = request.safeParse(body);
  if (!parsed.success) return { problem: `unexpected ${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}` };
  const problem = problemOfCalls(parsed.data.messages);
  return problem === undefined ? { request: parsed.data } : { problem };
}

/** Each call has one result, right behind its message. */
function problemOfCalls(messages: OllamaRequest["messages"]): string | undefined {
  let open: string[] = [];
  for (const one of messages) {
    if (one.role === "tool") {
      const at = open.indexOf(one.tool_call_id);
      if (at === -1) return `result of a call that was not made: ${one.tool_call_id}`;
      open.splice(at, 1);
    } else {
      if (open.length > 0) return `no result for ${open[0]}`;
      if (one.role === "assistant") open = (one.tool_calls ?? []).map(({ id }) => id ?? "");
    }
  }
  return open.length > 0 ? `no result for ${open[0]}` : undefined;
}
