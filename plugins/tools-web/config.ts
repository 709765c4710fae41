import { toHostPattern, z } from "svc/sdk";

const host = z
  .string()
  .min(1)
  .max(253)
  .refine(
    (text) => toHostPattern(text) !== undefined,
    "expected a host such as example.org or *.example.org, without scheme, port and path",
  );
const hosts = z.array(host).max(1_000).default([]);

/** `plugins.entries.tools-web.config`. */
export const webConfig = z
  .strictObject({
    fetch: z
      .strictObject({
        allowedHosts: hosts.describe(
          "Hosts that web_fetch and image may ask, as `example.org` or `*.example.org`; an empty list means any public one",
        ),
        deniedHosts: hosts.describe("Hosts that web_fetch and image never ask; wins over `allowedHosts`"),
      })
      .prefault({}),
    search: z
      .strictObject({
        provider: z
          .enum(["off", "searxng", "brave", "tavily"])
          .default("off")
          .describe("Who answers web_search; the tool is offered only with a provider"),
        baseUrl: z
          .string()
          .max(2_000)
          .optional()
          .describe("Address of the provider; required for searxng, by default the vendor's own for the others"),
        apiKey: z.string().min(1).optional().describe("Key of brave or tavily"),
      })
      .superRefine(({ provider, baseUrl, apiKey }, issue) => {
        if (provider === "searxng" && baseUrl === undefined)
          issue.addIssue({
            code: "custom",
            path: ["baseUrl"],
            message: "expected the address of the SearXNG server, such as https://search.example.org",
          });
        if ((provider === "brave" || provider === "tavily") && apiKey === undefined)
          issue.addIssue({ code: "custom", path: ["apiKey"], message: `expected the key of ${provider}` });
        if (baseUrl !== undefined && !isWebAddress(baseUrl))
          issue.addIssue({ code: "custom", path: ["baseUrl"], message: "expected an http or https address without a user name" });
      })
      .prefault({}),
    image: z
      .strictObject({
        model: z
          .string()
          .min(1)
          .max(256)
          .optional()
          .describe("Model that looks at pictures where no model of the session does: `provider/model`, a bare id or an alias"),
      })
      .prefault({}),
  })
  .prefault({});

export type WebConfig = z.output<typeof webConfig>;

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}
