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

/** The path below `hooks.path` without slashes at either end. */
export function subPath(rest: string): string {
  return rest.replace(/^\/+|\/+$/g, "");
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
