import { z } from "zod";

const effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const userPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("input_text"), text: z.string() }),
  z.strictObject({ type: z.literal("input_image"), image_url: z.string().regex(/^data:image\/[a-z]+;base64,/) }),
  z.strictObject({ type: z.literal("input_file"), filename: z.string(), file_data: z.string().startsWith("data:application/pdf;base64,") }),
]);

const item = z.union([
  z.strictObject({ role: z.enum(["system", "developer"]), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.array(userPart).min(1) }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.array(z.strictObject({ type: z.literal("output_text"), text: z.string() })).min(1),
    id: z.string().startsWith("msg_").optional(),
  }),
  z.strictObject({
    type: z.literal("reasoning"),
    id: z.string().startsWith("rs_"),
    encrypted_content: z.string().min(1),
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string().min(1) })),
  }),
  z.strictObject({
    type: z.literal("function_call"),
    call_id: z.string().min(1),
    name,
    arguments: z.string(),
    id: z.string().startsWith("fc_").optional(),
    status: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: z.string().min(1), output: z.string() }),
]);
export type InputItem = z.infer<typeof item>;

/** The part of https://platform.openai.com/docs/api-reference/responses/create that is used; nothing else may come. */
const request = z.strictObject({
  model: z.string().min(1),
  input: z.array(item).min(1),
  stream: z.literal(true),
  store: z.literal(false),
  include: z.array(z.literal("reasoning.encrypted_content")).optional(),
  reasoning: z.strictObject({ effort: effort.optional(), summary: z.literal("auto").optional() }).optional(),
  prompt_cache_key: z.string().min(1).max(64).optional(),
  max_output_tokens: z.int().min(16).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  parallel_tool_calls: z.boolean().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  text: z.strictObject({ format: z.looseObject({ type: z.enum(["json_object", "json_schema"]) }) }).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        name,
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
        strict: z.boolean().optional(),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.union([z.enum(["auto", "none", "required"]), z.strictObject({ type: z.literal("function"), name })]).optional(),
});
export type ResponsesRequest = z.infer<typeof request>;

/** Reasoning that the vendor gave out: its sealed content, and the item that must follow it. */
export type IssuedReasoning = ReadonlyMap<string, { sealed: string; summary: readonly string[]; before: string | undefined }>;

/** Checks a request as the vendor does: its shape, one output for each call behind it, and reasoning unchanged and in its place. */
export function checkResponsesRequest(
  body: unknown,
  issued: IssuedReasoning,
): { request: ResponsesRequest } | { problem: string; param: string | null } {
  const parsed = request.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { problem: `Invalid '${issue?.path.join(".")}': ${issue?.message}`, param: issue?.path.join(".") ?? null };
  }
  const { input, tools, tool_choice: choice } = parsed.data;
  const problem = problemOfCalls(input) ?? problemOfReasoning(input, issued);
  if (problem !== undefined) return { problem, param: "input" };
  if (typeof choice === "object" && !tools?.some((tool) => tool.name === choice.name))
    return { problem: `Tool choice '${choice.name}' not found in 'tools' parameter.`, param: "tool_choice" };
  return { request: parsed.data };
}

function problemOfCalls(input: readonly InputItem[]): string | undefined {
  const open = new Set<string>();
  const made = new Set<string>();
  for (const one of input) {
    if (!("type" in one)) {
      if (open.size > 0) return `No tool output found for function call ${[...open][0]}.`;
      continue;
    }
    if (one.type === "function_call") {
      if (made.has(one.call_id)) return `Duplicate function call ${one.call_id}.`;
      made.add(one.call_id);
      open.add(one.call_id);
    }
    if (one.type === "function_call_output" && !open.delete(one.call_id))
      return `No tool call found for function call output ${one.call_id}.`;
  }
  return open.size > 0 ? `No tool output found for function call ${[...open][0]}.` : undefined;
}

function problemOfReasoning(input: readonly InputItem[], issued: IssuedReasoning): string | undefined {
  const sent = new Set<string>();
  for (const [i, one] of input.entries()) {
    if (!("type" in one)) continue;
    if (one.type === "reasoning") {
      const original = issued.get(one.id);
      sent.add(one.id);
      if (!original || original.sealed !== one.encrypted_content) return `The encrypted content for item ${one.id} could not be verified.`;
      if (JSON.stringify(one.summary.map(({ text }) => text)) !== JSON.stringify(original.summary))
        return `The summary of ${one.id} was changed.`;
      const next = input.slice(i + 1).find((following) => !("type" in following) || following.type !== "reasoning");
      if (!next || ("type" in next ? next.type !== "function_call" : next.role !== "assistant"))
        return `Item '${one.id}' of type 'reasoning' was provided without its required following item.`;
    }
    // A call without its id stands by itself.
    if (one.type === "function_call" && one.id !== undefined) {
      const required = [...issued].find(([, { before }]) => before === one.call_id)?.[0];
      if (required !== undefined && !sent.has(required))
        return `Item '${one.call_id}' of type 'function_call' was provided without its required 'reasoning' item: '${required}'.`;
    }
  }
  return undefined;
}
