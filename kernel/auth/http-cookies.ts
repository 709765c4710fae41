/** The same answer without its cookies. It is a new one: the headers of an answer that was fetched, say, cannot be changed. */
export function withoutCookies({ body, status, statusText, headers }: Response): Response {
  const kept = new Headers(headers);
  kept.delete("set-cookie");
  return new Response(body, { status, statusText, headers: kept });
}
