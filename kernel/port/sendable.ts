import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { HTTPResponse } from "h3";
import type { HttpReply } from "../../sdk/types/http.ts";

interface Sides {
  req: IncomingMessage;
  res: ServerResponse;
}

/** Answers that have no body, whatever a route gave. */
const bodiless = new Set([204, 205, 304]);

/** Returned to h3 for an answer that has been written: a response whose head is there already is only ended by h3. */
const written = new Response(null);

/**
 * Makes a value that h3 sends of an answer. A complete one is written to the response of Node at once: on its way through `Headers` and a second `Response` it
 * costs as much as the rest of a small request.
 * @throws when a header cannot be sent
 */
export function toSendable(answer: Response | HttpReply, sides: Sides): Response | HTTPResponse {
  if (answer instanceof Response) return withCookies(answer, sides);
  const { status = 200, headers = {}, body } = answer;
  const { req, res } = sides;
  for (const name in headers) res.setHeader(name, headers[name] as string);
  const statusText = STATUS_CODES[status] ?? "";
  if (req.method === "HEAD" || bodiless.has(status)) return new HTTPResponse(null, { status, statusText });
  if (typeof body === "string" && !res.hasHeader("content-type")) res.setHeader("content-type", "text/plain; charset=UTF-8");
  // Made before the head is sent: bytes whose memory is gone throw here, and are still answered with 500.
  const isText = typeof body === "string";
  const bytes = isText ? Buffer.byteLength(body) : body.byteLength;
  const isAscii = isText && bytes === body.length;
  const content = isAscii ? body : isText ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, bytes);
  res.setHeader("content-length", bytes);
  res.writeHead(status, statusText);
  // Text of as many bytes as characters is the same in both encodings, and leaves in one piece with the head, which is Latin-1.
  res.write(content, "latin1");
  return written;
}

/** Over headers that stand on `res` already, `writeHead` keeps the last line of each name; so several cookies are put there as one list. */
function withCookies(answer: Response, { res }: Sides): Response {
  const cookies = answer.headers.getSetCookie();
  if (cookies.length < 2) return answer;
  res.setHeader("Set-Cookie", cookies);
  return withoutCookies(answer);
}

/** The same answer without its cookies. It is a new one: the headers of an answer that was fetched, say, cannot be changed. */
function withoutCookies({ body, status, statusText, headers }: Response): Response {
  const kept = new Headers(headers);
  kept.delete("set-cookie");
  return new Response(body, { status, statusText, headers: kept });
}
