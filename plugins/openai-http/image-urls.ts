import { type FetchRules, fetchPublic, type SvcConfig } from "svc/sdk";
import { MAX_IMAGE_BYTES } from "./images.ts";
import { isListed } from "./responses/media.ts";

type Rules = SvcConfig["gateway"]["http"]["endpoints"]["chatCompletions"]["images"];

const FETCH_MS = 10_000;
const MAX_REDIRECTS = 3;

/**
 * Fetches pictures of chat completions as `data:` addresses, where the config allows that; undefined where it does not.
 * @param fetch for tests, whose servers are of this machine
 */
export function imageFetcher(
  { allowUrl, urlAllowlist }: Rules,
  { signal, fetch }: { signal: AbortSignal; fetch?: Pick<FetchRules, "isAllowed" | "lookup"> },
): ((url: string) => Promise<string>) | undefined {
  if (!allowUrl) return undefined;
  const isHostAllowed = (host: string) => isListed(host, urlAllowlist);
  return async (url) => {
    const limits = { maxBytes: MAX_IMAGE_BYTES, maxRedirects: MAX_REDIRECTS, timeoutMs: FETCH_MS };
    const { content, mime } = await fetchPublic(url, { ...limits, signal, isHostAllowed, ...fetch });
    return `data:${mime.split(";", 1)[0]?.trim() ?? ""};base64,${content.toString("base64")}`;
  };
}
