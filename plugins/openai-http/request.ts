import { formatIssues, type ModelSampling, z } from "svc/sdk";
import { badRequest } from "./errors.ts";
import { checkItemCount } from "./item-limit.ts";
import { parseSampling } from "./sampling.ts";
import { type CallForm, type ClientTools, parseCallFields } from "./tools.ts";

const messageSchema = z.looseObject({ role: z.string() });

const bodySchema = z.looseObject({
  model: z.string().nullish(),
  messages: z.array(messageSchema),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().nullish(),
});

/** One entry of `messages`; everything but the role is checked where it is used. */
export type WireMessage = z.infer<typeof messageSchema>;

/** A chat completion request, checked. */
export interface ChatRequest extends ClientTools, CallForm {
  model: string | undefined;
  messages: WireMessage[];
  stream: boolean;
  includeUsage: boolean;
  user: string | undefined;
  sampling: ModelSampling;
}

/**
 * Checks a request body; null counts as absent, unknown fields are ignored.
 * @throws {SvcError} `v1-bad-request` with the first thing that is wrong
 */
export function parseChatRequest(body: unknown): ChatRequest {
  checkItemCount(body, "messages");
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    const text = formatIssues(parsed.error.issues.slice(0, 1));
    throw badRequest(text.replace(/^at root: /, "body: ").replace(/^at /, ""));
  }
  const { model, messages, stream, stream_options: streamOptions, user, ...rest } = parsed.data;
  refuseUnsupported(rest);
  return {
    model: model ?? undefined,
    messages,
    stream: stream ?? false,
    includeUsage: streamOptions?.include_usage ?? false,
    user: user ? user : undefined,
    sampling: parseSampling(rest),
    ...parseCallFields(rest),
  };
}

function refuseUnsupported(fields: Record<string, unknown>): void {
  if (fields.n != null && fields.n !== 1) throw badRequest("`n` must be 1.");
  if (fields.logprobs != null && fields.logprobs !== false) throw badRequest("`logprobs` is not supported.");
}
