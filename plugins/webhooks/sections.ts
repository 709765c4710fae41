import { durationMs, secret, sizeBytes, z } from "svc/sdk";
import { defaulted, documented, duration, pathText } from "svc/sdk/internal";

const template = () => z.string().max(262_144);
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected the name of an HTTP header");

/** Refuses these texts, in a form that can be written beside the manifest. */
const except = (values: readonly string[], error: string) =>
  [(text: string) => !values.includes(text), { error, params: { except: values } }] as const;

const verify = z
  .strictObject({
    provider: z.enum(["github", "stripe", "slack", "standard-webhooks", "hmac"]).describe("Signature scheme"),
    secret: secret().optional().describe("Signing secret"),
    secrets: z.array(secret()).min(1).max(10).optional().describe("Several signing secrets, while one replaces another"),
    toleranceSeconds: documented(duration("s", 1, 86_400), 300).describe("Maximum age of a signature, where the scheme has a timestamp"),
    mode: documented(z.enum(["with-token", "instead"]), "with-token").describe(
      "Token and signature, or the signature instead of the token",
    ),
    header: headerName.optional().describe("`hmac`: header of the signature"),
    prefix: z.string().max(64).optional().describe("`hmac`: text before the signature"),
    encoding: documented(z.enum(["hex", "base64"]), "hex").describe("`hmac`: encoding of the signature"),
    timestampHeader: headerName.optional().describe("`hmac`: header of the timestamp, which is then part of the signed text"),
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
        .refine(...except(["wake", "agent"], "wake and agent cannot be mapped"))
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
  timeoutSeconds: duration("s", 1, 86_400).optional().describe("Time limit of the run; unset: the agent's"),
  sessionMode: documented(z.enum(["isolated", "persistent"]), "isolated").describe("A new transcript for each run, or one that continues"),
  allowUnsafeExternalContent: documented(z.boolean(), false).describe("Do not frame the payload as untrusted; dangerous"),
  forEach: z
    .string()
    .regex(/^[^.[\]]+$/, "expected one key of the payload, without dots and brackets")
    .refine(...except(["__proto__", "prototype", "constructor"], "this key is not allowed"))
    .optional()
    .describe("Key of a list in the payload; one action for each of its items"),
  transform: z
    .strictObject({
      module: pathText().describe("File below `hooks.transformsDir`"),
      export: z.string().min(1).optional().describe("Exported function; unset: the default export, else `transform`"),
    })
    .optional(),
  verify,
  maxBodyBytes: sizeBytes(1_024, 33_554_432).optional().describe("Maximum body size of this path; unset: `hooks.maxBodyBytes`"),
});

/** `hooks.*`: the webhook ingress. */
const hooksSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Accept webhooks"),
    token: secret().optional().describe("Token of webhook senders; required when enabled; must differ from the gateway's own"),
    path: z
      .string()
      .regex(/^\/[^?#\s]*$/, 'expected an absolute path such as "/hooks"')
      .default("/hooks")
      .describe("Base path of webhooks"),
    allowedAgentIds: z.array(z.string().min(1)).optional().describe("Agents that may be named; unset or `*`: any, empty: none"),
    defaultSessionKey: z.string().min(1).max(256).optional().describe("Session of runs that name none; unset: a new session for each run"),
    allowRequestSessionKey: z.boolean().default(false).describe("Allow payloads to name the session"),
    allowedSessionKeyPrefixes: z.array(z.string()).optional().describe("Session keys named by a payload must begin with one of these"),
    presets: z.array(z.string().min(1)).default([]).describe("Built-in mappings: `gmail`, and those of plugins"),
    transformsDir: documented(pathText(), "<config dir>/hooks/transforms").describe(
      "Folder of transform files; must lie within the default one",
    ),
    maxBodyBytes: defaulted(sizeBytes(1_024, 33_554_432), 262_144).describe("Maximum body size"),
    mappings: z.array(hookMappingSchema).max(1_000).default([]).describe("What `POST <path>/<name>` does; the first match wins"),
    transforms: z
      .strictObject({
        isolation: z
          .enum(["process", "worker", "off"])
          .default("process")
          .describe("Where transforms run: a child process without rights, a thread, or the gateway itself"),
        allowNet: z.boolean().default(false).describe("Transforms may use the network"),
        timeoutMs: defaulted(durationMs(1, 30_000), 5_000, "5s").describe("Time limit of one transform call"),
      })
      .prefault({}),
  })
  .meta({ reload: "hot" });

/** Sections of the config that this plugin owns. The manifest names this module; `svc.sections.json` is written from it. */
export default { hooks: hooksSchema.prefault({}) };
