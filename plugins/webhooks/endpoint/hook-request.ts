import type { HookRequest } from "../action.ts";

/** Headers that hold a credential or a signature of any sender known here; templates and transforms never see them. */
const secretHeaders = [
  "authorization",
  "proxy-authorization",
  "cookie",
  "x-svc-token",
  "x-hub-signature",
  "x-hub-signature-256",
  "stripe-signature",
  "x-slack-signature",
  "webhook-signature",
  "svix-signature",
];

/** Longest path below `hooks.path`, and longest query: no mapping has more, and nobody has shown a token yet when they are looked at. */
const MAX_PATH_CHARS = 1_024;
const MAX_QUERY_CHARS = 8_192;

/** Whether an address is too long to be looked at. */
export function isTooLong(rest: string, query: string): boolean {
  return rest.length > MAX_PATH_CHARS || query.length > MAX_QUERY_CHARS;
}

/** The path below `hooks.path` without slashes at either end. Reads it once, whatever it is. */
export function subPath(rest: string): string {
  let [from, to] = [0, rest.length];
  while (from < to && rest[from] === "/") from += 1;
  while (to > from && rest[to - 1] === "/") to -= 1;
  return rest.slice(from, to);
}

/** All headers, by lower-case name. No prototype: a header may be called anything. */
export function headersOf(headers: Headers): Readonly<Record<string, string>> {
  const all: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) all[name] = value;
  return all;
}

/** The same for everybody who must not see a secret. */
export function openHeaders(all: Readonly<Record<string, string>>, more: readonly string[] = []): Readonly<Record<string, string>> {
  const open: Record<string, string> = Object.assign(Object.create(null), all);
  for (const name of [...secretHeaders, ...more]) delete open[name];
  return open;
}

/** @param headers made at first use: most requests are never asked for them */
export function toHookRequest(base: { path: string; url: URL; payload: unknown }, headers: () => HookRequest["headers"]): HookRequest {
  let made: HookRequest["headers"] | undefined;
  return {
    ...base,
    get headers() {
      made ??= headers();
      return made;
    },
  };
}
