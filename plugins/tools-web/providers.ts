import { type HttpRequestFunction, isRecord } from "svc/sdk";
import type { WebConfig } from "./config.ts";

/** Largest answer of a provider. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_TEXT_CHARS = 1_000;
const TIMEOUT_MS = 20_000;

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

export interface SearchQuery {
  query: string;
  count: number;
  freshness?: "day" | "week" | "month" | "year";
}

/** Somebody who answers `web_search`. */
export interface SearchProvider {
  name: string;
  /** At most `count` results. @throws {Error} in words for the model, without the key */
  find(query: SearchQuery, signal: AbortSignal): Promise<SearchResult[]>;
}

interface ProviderCall {
  url: URL;
  method?: "POST";
  headers: Record<string, string>;
  body?: string;
}

interface Vendor {
  baseUrl: string;
  call(base: URL, query: SearchQuery, apiKey: string): ProviderCall;
  /** Entries of an answer; anything else than a list means none. */
  entries(answer: Record<string, unknown>): unknown;
  snippet: string;
}

const vendors: Record<Exclude<WebConfig["search"]["provider"], "off">, Vendor> = {
  searxng: {
    baseUrl: "",
    call(base, { query, freshness }) {
      const url = below(base, "search");
      url.search = String(new URLSearchParams({ q: query, format: "json", ...(freshness ? { time_range: freshness } : {}) }));
      return { url, headers: {} };
    },
    entries: (answer) => answer.results,
    snippet: "content",
  },
  brave: {
    baseUrl: "https://api.search.brave.com",
    call(base, { query, count, freshness }, apiKey) {
      const url = below(base, "res/v1/web/search");
      const since = freshness === undefined ? {} : { freshness: { day: "pd", week: "pw", month: "pm", year: "py" }[freshness] };
      url.search = String(new URLSearchParams({ q: query, count: String(count), ...since }));
      return { url, headers: { "x-subscription-token": apiKey } };
    },
    entries: (answer) => (isRecord(answer.web) ? answer.web.results : undefined),
    snippet: "description",
  },
  tavily: {
    baseUrl: "https://api.tavily.com",
    call(base, { query, count, freshness }, apiKey) {
      const body = JSON.stringify({ query, max_results: count, ...(freshness ? { time_range: freshness } : {}) });
      return {
        url: below(base, "search"),
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body,
      };
    },
    entries: (answer) => answer.results,
    snippet: "content",
  },
};

/** The provider of a config, if it names one. It is asked at its own address only: a redirect is not followed. */
export function createSearch(
  { provider, baseUrl, apiKey = "" }: WebConfig["search"],
  request: HttpRequestFunction,
): SearchProvider | undefined {
  if (provider === "off") return undefined;
  const vendor = vendors[provider];
  const base = new URL(baseUrl ?? vendor.baseUrl);
  return {
    name: provider,
    async find(query, signal) {
      const { url, method = "GET", headers, body } = vendor.call(base, query, apiKey);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const sent = { accept: "application/json", "user-agent": "svc", ...headers };
      const response = await request(url, { method, headers: sent, body, timeoutMs: TIMEOUT_MS, signal: limit, idempotent: true });
      if (response.status !== 200) {
        response.body.on("error", () => undefined).destroy();
        throw new Error(refusal(provider, response.status));
      }
      const answer = await readJson(response.body, provider);
      return resultsOf(vendor.entries(answer), vendor.snippet).slice(0, query.count);
    },
  };
}

function refusal(provider: string, status: number): string {
  if (status === 401 || (status === 403 && provider !== "searxng"))
    return `${provider} refused its key (${status}); the operator has to check it`;
  if (status === 403) return "the SearXNG server refused (403): its search.formats needs json";
  if (status === 429) return `${provider} allows no more searches for now (429); go on without, or try later`;
  return `${provider} answered ${status}`;
}

async function readJson(body: AsyncIterable<Buffer>, provider: string): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the answer of ${provider} is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (isRecord(value)) return value;
  } catch {
    // said below
  }
  throw new Error(`the answer of ${provider} is no JSON object`);
}

function resultsOf(entries: unknown, snippet: string): SearchResult[] {
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    if (!isRecord(entry) || typeof entry.url !== "string" || !/^https?:/i.test(entry.url)) return [];
    return [{ title: plain(entry.title), url: entry.url.slice(0, 2_000), snippet: plain(entry[snippet]) }];
  });
}

/** One line, without the tags that providers mark words with. */
function plain(value: unknown): string {
  if (typeof value !== "string") return "";
  return value
    .slice(0, 4 * MAX_TEXT_CHARS)
    .replace(/<\/?[a-z]{1,10}>/gi, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_TEXT_CHARS);
}

function below(base: URL, path: string): URL {
  return new URL(path, base.href.endsWith("/") ? base.href : `${base.href}/`);
}
