import type { IncomingHttpHeaders } from "node:http";

/** Headers that prove who sends a request, or let somebody else do so. */
const credentials = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key", "x-svc-token"]);
/** Answers that have no body by their status. */
const bodiless = new Set([204, 205, 304]);

/** Headers of a request as a hook may see them: without credentials, several values of one name joined. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || credentials.has(name) ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

/**
 * Lets a hook change status and headers of an answer. `Set-Cookie` is not shown and stays; a header that is missing in the result is gone.
 * @param change gets what there is; its result may be the same object
 */
export async function reviseAnswer(
  answer: { status?: number | undefined; headers?: ConstructorParameters<typeof Headers>[0]; body?: unknown },
  change: (seen: {
    status: number;
    headers: Record<string, string>;
  }) => Promise<{ status: number; headers: Readonly<Record<string, string>> }>,
): Promise<Response | undefined> {
  const given = new Headers(answer.headers);
  const cookies = given.getSetCookie();
  const seen = { status: answer.status ?? 200, headers: Object.fromEntries([...given].filter(([name]) => name !== "set-cookie")) };
  const changed = await change(seen);
  if (changed.status === seen.status && changed.headers === seen.headers) return undefined;
  const headers = new Headers(changed.headers);
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  const body = bodiless.has(changed.status) ? null : (answer.body as ConstructorParameters<typeof Response>[0]);
  return new Response(body ?? null, { status: changed.status, headers });
}
