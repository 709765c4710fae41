import { secret, z } from "svc/sdk";
import { defaulted, duration, pathText } from "svc/sdk/internal";

const names = () => z.array(z.string().min(1).max(128)).max(256);
const environmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "expected the name of an environment variable");
const headerName = z.string().regex(/^[!#$%&'*+^_`|~0-9A-Za-z-]{1,128}$/, "expected the name of an HTTP header, without dots");

const serverSchema = z.strictObject({
  command: z.string().min(1).max(4_096).optional().describe("Program that speaks MCP on its standard input and output; no shell reads it"),
  args: z
    .array(z.string().max(8_192))
    .max(256)
    .default([])
    .describe("Its arguments; a secret belongs into `env`, because other users see arguments"),
  env: z
    .record(environmentName, secret())
    .default({})
    .describe("Its environment variables, besides HOME, LOGNAME, PATH, SHELL, TERM and USER of the gateway"),
  cwd: pathText().optional().describe("Its working directory; unset: the state directory of the plugin"),
  url: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/, "expected an http or https address without user and fragment")
    .optional()
    .describe("Address of a server that speaks streamable HTTP, in place of `command`"),
  headers: z.record(headerName, secret()).default({}).describe("Headers of each request to `url`; they go to no other origin"),
  oauth: z
    .strictObject({
      clientId: z
        .string()
        .min(1)
        .max(512)
        .describe("Name of this client at the authorization server, where it was registered by hand; without `oauth` it registers itself"),
      clientSecret: secret().optional().describe("Secret of that client, where it was given one"),
    })
    .optional(),
  protocol: z
    .enum(["legacy", "auto"])
    .optional()
    .describe(
      "Revision of the protocol: `legacy` is 2025-11-25; `auto` asks for 2026-07-28 first, which starts a program twice. Unset: `legacy` for programs, `auto` for addresses",
    ),
  tools: z
    .strictObject({
      allow: names().optional().describe("Tools of the server that agents may have, by its own names, with `*`; unset: all"),
      deny: names().default([]).describe("Tools of the server that agents do not get; wins over `allow`"),
    })
    .prefault({}),
  approval: z
    .enum(["never", "writes", "always"])
    .default("writes")
    .describe("Calls that a person has to approve: none, those of tools that do not say that they only read, or all"),
  timeoutSeconds: defaulted(duration("s", 1, 3_000), 120).describe("Time limit of one call"),
  startSeconds: defaulted(duration("s", 1, 600), 30).describe("Time limit of starting or reaching the server"),
});

const mcpSchema = z
  .strictObject({
    servers: z
      .record(z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, "expected a small letter, then up to 31 of a-z, 0-9, _ and -"), serverSchema)
      .default({})
      .describe("Servers of the Model Context Protocol whose tools agents get, as `mcp_<server>_<tool>`"),
  })
  .meta({ reload: "hot" });

/** Section of the config that this plugin owns. The manifest names this module; `svc.sections.json` is written from it. */
export default { mcp: mcpSchema.prefault({}) };
