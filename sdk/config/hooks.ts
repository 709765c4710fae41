import { z } from "zod";
import { duration, durationMs, sizeBytes } from "./amounts.ts";
import { defaulted, documented, pathText, secret } from "./fields.ts";

const template = () => z.string().max(262_144);
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected the name of an HTTP header");

const verify = z
  .strictObject({
    provider: z.enum(["github", "stripe", "slack", "standard-webhooks", "hmac"]).describe("Whose scheme of signatures"),
    secret: secret().optional().describe("Key of the signatures"),
    secrets: z.array(secret()).min(1).max(10).optional().describe("Several keys, while one replaces another"),
    toleranceSeconds: documented(duration("s", 1, 86_400), 300).describe("Oldest signature taken, where the scheme has a time"),
    mode: documented(z.enum(["with-token", "instead"]), "with-token").describe(
      "Token and signature, or the signature instead of the token",
    ),
    header: headerName.optional().describe("`hmac`: header of the signature"),
    prefix: z.string().max(64).optional().describe("`hmac`: text before the signature"),
    encoding: documented(z.enum(["hex", "base64"]), "hex").describe("`hmac`: form of the signature"),
    timestampHeader: headerName.optional().describe("`hmac`: header of the time, which is then signed as well"),
    idHeader: headerName.optional().describe("`hmac`: header of the delivery id"),
  })
  .optional();

/** One entry of `hooks.mappings`; presets bring such entries too. */
export const hookMappingSchema = z.strictObject({
  id: documented(z.string().min(1).max(64), "mapping-<n>").describe("Name in the log"),
  match: z
    .strictObject({
      path: z
        .string()
        .max(1_024)
        .regex(/^[^/?#\s][^?#\s]*$/, "expected the path below hooks.path, without a slash at either end")
        .regex(/[^/]$/, "expected the path below hooks.path, without a slash at either end")
        .refine((path) => path !== "wake" && path !== "agent", { error: "wake and agent cannot be mapped" })
        .optional()
        .describe("Path below `hooks.path`, exactly"),
      source: z.string().min(1).optional().describe("Value of `source` in the payload, exactly"),
    })
    .optional(),
  action: documented(z.enum(["wake", "agent"]), "agent").describe("Wake the main session, or run an agent"),
  wakeMode: documented(z.enum(["now", "next-heartbeat"]), "now").describe("Heartbeat at once, or with the next one"),
  name: template().optional().describe("Template of the hook's name"),
  agentId: z.string().min(1).optional().describe("Agent; an unknown one means the default agent"),
  sessionKey: template().optional().describe("Template of the session key"),
  messageTemplate: template().optional().describe("Template of the message for the agent"),
  textTemplate: template().optional().describe("Template of the text of a wake"),
  deliver: documented(z.boolean(), true).describe("Send the answer to a channel"),
  channel: documented(z.string().min(1), "last").describe("`last`, or a channel id"),
  to: template().optional().describe("Template of the recipient"),
  model: template().optional().describe("Template of the model"),
  thinking: template().optional().describe("Template of the thinking level"),
  timeoutSeconds: duration("s", 1, 86_400).optional().describe("Longest run; unset: the agent's"),
  sessionMode: documented(z.enum(["isolated", "persistent"]), "isolated").describe("A fresh transcript for each run, or one that goes on"),
  allowUnsafeExternalContent: documented(z.boolean(), false).describe("Do not frame the payload as untrusted; dangerous"),
  forEach: z
    .string()
    .regex(/^[^.[\]]+$/, "expected one key of the payload, without dots and brackets")
    .refine((key) => !["__proto__", "prototype", "constructor"].includes(key), { error: "this key is not allowed" })
    .optional()
    .describe("Key of a list in the payload; one action for each of its items"),
  transform: z
    .strictObject({
      module: pathText().describe("File below `hooks.transformsDir`"),
      export: z.string().min(1).optional().describe("Function of it; unset: the default one, else `transform`"),
    })
    .optional(),
  verify,
  maxBodyBytes: sizeBytes(1_024, 33_554_432).optional().describe("Largest body of this path; unset: `hooks.maxBodyBytes`"),
});

/** `hooks.*`: the webhook ingress. */
export const hooksSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Take webhooks"),
    token: secret().optional().describe("Their token; required when enabled; never the gateway's own"),
    path: z
      .string()
      .regex(/^\/[^?#\s]*$/, 'expected an absolute path such as "/hooks"')
      .default("/hooks")
      .describe("Path below which they arrive"),
    allowedAgentIds: z.array(z.string().min(1)).optional().describe("Agents that may be named; unset or `*`: any, empty: none"),
    defaultSessionKey: z.string().min(1).max(256).optional().describe("Session of runs that name none; unset: a fresh one each"),
    allowRequestSessionKey: z.boolean().default(false).describe("Payloads may name the session"),
    allowedSessionKeyPrefixes: z.array(z.string()).optional().describe("Sessions that may be named begin with one of these"),
    presets: z.array(z.string().min(1)).default([]).describe("Built-in mappings: `gmail`, and those of plugins"),
    transformsDir: documented(pathText(), "<config dir>/hooks/transforms").describe(
      "Folder of transform files; must lie within the default one",
    ),
    maxBodyBytes: defaulted(sizeBytes(1_024, 33_554_432), 262_144).describe("Largest body"),
    mappings: z.array(hookMappingSchema).max(1_000).default([]).describe("What `POST <path>/<name>` does; the first that matches"),
    transforms: z
      .strictObject({
        isolation: z
          .enum(["process", "worker", "off"])
          .default("process")
          .describe("Where transforms run: a child process without rights, a thread, or the gateway itself"),
        allowNet: z.boolean().default(false).describe("Transforms may use the network"),
        timeoutMs: defaulted(durationMs(1, 30_000), 5_000, "5s").describe("Longest call of a transform"),
      })
      .prefault({}),
  })
  .meta({ reload: "hot" });
