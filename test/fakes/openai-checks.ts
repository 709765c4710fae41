import { z } from "zod";

const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string().regex(/^(data:image\/|https?:)/) }) }),
]);

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: z.string() }),
  z.object({ role: z.literal("user"), content: z.union([z.string().min(1), z.array(part).min(1)]) }),
  z.object({ role: z.literal("assistant"), content: z.string().nullable(), tool_calls: z.array(toolCall).min(1).optional() }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string().min(1), content: z.string() }),
]);

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

/** The part of a chat completion request (https://platform.openai.com/docs/api-reference/chat/create) that vendors insist on. */
const chatRequest = z.object({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean() }).optional(),
  tools: z
    .array(
      z.object({
        type: z.literal("function"),
        function: z.object({
          name,
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()).optional(),
          strict: z.boolean().optional(),
        }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .union([z.enum(["auto", "none", "required"]), z.object({ type: z.literal("function"), function: z.object({ name }) })])
    .optional(),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.enum(["minimal", "low", "medium", "high"]).optional(),
});

export type ChatRequest = z.infer<typeof chatRequest>;

/** Checks a request as a vendor would: its shape, and that every tool message answers a call made before it. */
export function checkChatRequest(body: unknown): { request: ChatRequest } | { problem: string } {
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { problem: `Invalid '${issue?.path.join(".")}': ${issue?.message}` };
  }
  const calls = new Set<string>();
  for (const [i, m] of parsed.data.messages.entries()) {
    if (m.role === "assistant") for (const call of m.tool_calls ?? []) calls.add(call.id);
    if (m.role === "tool" && !calls.has(m.tool_call_id)) {
      return { problem: `Invalid 'messages.${i}': messages with role 'tool' must answer a preceding message with 'tool_calls'` };
    }
  }
  return { request: parsed.data };
}
