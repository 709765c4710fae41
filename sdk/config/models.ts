import { z } from "zod";
import { duration } from "./amounts.ts";
import { documented, httpUrl, pathText, secret } from "./fields.ts";

/** Id of the provider whose models run on this machine: GGUF files, no server. */
export const LOCAL_PROVIDER_ID = "local";

const price = z.number().min(0).optional();

const model = z.strictObject({
  id: z.string().min(1).describe("Name by which the vendor knows the model"),
  name: z.string().min(1).optional().describe("Name shown to people"),
  modelPath: pathText()
    .optional()
    .describe(
      "GGUF file of a model of the provider `local`: a path (`~` and paths relative to the state folder allowed), `hf:<owner>/<repo>/<file>`, or an `http(s):` address",
    ),
  input: documented(z.array(z.enum(["text", "image", "pdf", "audio"])), ["text"]).describe("Input types the model accepts"),
  contextWindow: z.number().int().min(1).optional().describe("Tokens of prompt and answer together"),
  maxTokens: z.number().int().min(1).optional().describe("Maximum length of an answer in tokens"),
  tools: documented(z.boolean(), true).describe("Whether the model can call tools; without, agents offer it none of theirs"),
  reasoning: documented(z.boolean(), false).describe("Whether the model has thinking levels"),
  cost: z
    .strictObject({
      input: price.describe("Price of a million prompt tokens"),
      output: price.describe("Price of a million answer tokens"),
      cacheRead: price.describe("Price of a million tokens read from the vendor's cache"),
      cacheWrite: price.describe("Price of a million tokens written to the vendor's cache"),
    })
    .optional(),
});

const provider = z.strictObject({
  baseUrl: httpUrl()
    .optional()
    .describe("Address of the server; this exact origin is trusted for outbound calls, private addresses included"),
  apiKey: secret().optional().describe("Key of the vendor; also used for embeddings"),
  api: documented(
    z.enum(["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai", "bedrock-converse", "ollama"]),
    "openai-completions",
  ).describe(
    "Wire format; known vendors have their own, everything else and an `openai` with a `baseUrl` or an `ollama` whose `baseUrl` ends in `/v1` has the default",
  ),
  auth: documented(z.enum(["api-key", "aws-sdk", "none"]), "api-key").describe("How requests are authenticated"),
  headers: z.record(z.string().min(1), z.string()).optional().describe("Headers added to every request"),
  timeoutSeconds: duration("s", 1, 3_600)
    .optional()
    .describe("Longest wait for the beginning of an answer; 600 for an address of this machine, else 120"),
  silenceSeconds: duration("s", 1, 3_600)
    .optional()
    .describe("Longest silence within an answer; as long as `timeoutSeconds` when it is not set"),
  params: z.record(z.string(), z.unknown()).optional().describe("Free parameters for the vendor's requests"),
  models: z.array(model).optional().describe("Models offered; the first is the vendor's default"),
});

/** Keys of an entry that a server is reached by. */
const serverKeys = ["apiKey", "api", "auth", "headers"] as const;

/** Faults of an entry in what it says of files: only `local` without a server has models in files, and each of its models has one. */
function localIssues(id: string, entry: z.output<typeof provider>): Array<{ path: Array<string | number>; message: string }> {
  const { baseUrl, models = [] } = entry;
  if (id !== LOCAL_PROVIDER_ID || baseUrl !== undefined) {
    const message = `only the provider "${LOCAL_PROVIDER_ID}" without a baseUrl has models in files; remove modelPath`;
    return models.flatMap(({ modelPath }, i) => (modelPath === undefined ? [] : [{ path: ["models", i, "modelPath"], message }]));
  }
  const keys = serverKeys.filter((key) => entry[key] !== undefined);
  return [
    ...keys.map((key) => ({
      path: [key],
      message: `has no meaning for models on this machine; remove it, or set baseUrl to reach a server`,
    })),
    ...models.flatMap(({ modelPath }, i) =>
      modelPath === undefined
        ? [
            {
              path: ["models", i, "modelPath"],
              message: "expected the GGUF file of this model: a path, hf:<owner>/<repo>/<file> or an address",
            },
          ]
        : [],
    ),
  ];
}

/** `models.*`: vendors and their models. */
export const modelsSchema = z
  .strictObject({
    mode: z
      .enum(["merge", "replace"])
      .default("merge")
      .describe("Merge the vendors configured here with those of plugins, or use only these"),
    providers: z
      .record(
        z
          .string()
          .regex(
            /^[a-z0-9][a-z0-9._-]{0,63}$/,
            "expected lower-case letters, digits, . _ or -, at most 64, starting with a letter or digit",
          ),
        provider,
      )
      .superRefine((providers, ctx) => {
        for (const [id, entry] of Object.entries(providers))
          for (const { path, message } of localIssues(id, entry)) ctx.addIssue({ code: "custom", path: [id, ...path], message });
      })
      .default({}),
  })
  .meta({ reload: "hot" });
