import { type FetchRules, fetchPublic, type Tool, wrapExternal, z } from "svc/sdk";
import { decodeText, kindOf, namedType } from "./content.ts";
import { type HostRules, hostFilter } from "./hosts.ts";
import type { PageReader } from "./page-reader.ts";

/** Longest text that a model gets of one page, in UTF-16 units. */
const MAX_CHARS = 50_000;
const MAX_BYTES = 10 * 1024 * 1024;
const FETCH_MS = 15_000;
const TOOL_MS = 30_000;

const input = z.strictObject({
  url: z.string().min(1).max(2_000).describe("Address of the page, with http or https"),
  maxChars: z
    .number()
    .int()
    .min(200)
    .max(MAX_CHARS)
    .optional()
    .describe("Longest text to return, at most and by default 50,000 characters"),
  raw: z.boolean().optional().describe("Return the page's source instead of its article as Markdown"),
});

interface Deps {
  reader: Pick<PageReader, "read">;
  rules: HostRules;
  /** For tests, whose servers are of this machine. */
  fetch?: Partial<FetchRules>;
}

/** `web_fetch`: a page of the public web as Markdown, in a frame that says it is not to be obeyed. */
export function webFetchTool({ reader, rules, fetch }: Deps): Tool<z.output<typeof input>> {
  const isHostAllowed = hostFilter(rules);
  return {
    name: "web_fetch",
    description:
      "Reads one public web page, article or text file by its address and returns it as Markdown. It cannot log in, run scripts, or reach private addresses.",
    input,
    readOnly: true,
    timeoutMs: TOOL_MS,
    async run({ url, maxChars = MAX_CHARS, raw = false }, { signal }) {
      const file = await fetchPublic(url, {
        maxBytes: MAX_BYTES,
        timeoutMs: FETCH_MS,
        signal,
        isHostAllowed,
        ...fetch,
      });
      const kind = kindOf(file.mime);
      if (kind === "other")
        throw new Error(
          `the address has ${namedType(file.mime) ?? "a file of no named type"}, which is not text; only pages and texts can be read`,
        );
      const source = decodeText(file.content, file.mime);
      const page = kind === "html" && !raw ? await reader.read({ html: source, url: file.url }, signal) : { text: source };
      const text = cut(page.text, maxChars);
      return wrapExternal(text, { source: "Web page", from: file.url, ...("title" in page && page.title ? { subject: page.title } : {}) });
    },
  };
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text === "" ? "(the page has no text)" : text;
  // Half of a character would be sent as a broken one.
  const end = /[\ud800-\udbff]/.test(text[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  return `${text.slice(0, end)}\n\n[cut: the first ${end} of ${text.length} characters]`;
}
