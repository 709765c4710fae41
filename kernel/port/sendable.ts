import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { HTTPResponse } from "h3";
import type { HttpReply } from "../../sdk/types/http.ts";
import { withoutCookies } from "../auth/http-cookies.ts";

interface Sides {
  req: IncomingMessage;
  res: ServerResponse;
}

/** Answers that have no body, whatever a route gave. */
const bodiless = new Set([204, 205, 304]);

/**
 * Makes a value that h3 sends of an answer. Headers of a complete one are put on the response of Node at once: on their way through `Headers` they cost as
 * much as the rest of a small request.
 * @throws when a header cannot be sent
 */
export function toSendable(answer: Response | HttpReply, sides: Sides): Response | HTTPResponse {
  if (answer instanceof Response) return withCookies(answer, sides);
  const { status = 200, headers = {}, body } = answer;
  const { req, res } = sides;
  for (const name in headers) res.setHeader(name, headers[name] as string);
  const hasBody = req.method !== "HEAD" && !bodiless.has(status);
  // h3 gives a text a type of its own, over one that stands on the response; bytes keep theirs.
  const isTyped = hasBody && typeof body === "string" && res.hasHeader("content-type");
  return new HTTPResponse(isTyped ? Buffer.from(body) : (body as string), { status, statusText: STATUS_CODES[status] ?? "" });
}

/** Over headers that stand on `res` already, `writeHead` keeps the last line of each name; so several cookies are put there as one list. */
function withCookies(answer: Response, { res }: Sides): Response {
  const cookies = answer.headers.getSetCookie();
  if (cookies.length < 2) return answer;
  res.setHeader("Set-Cookie", cookies);
  return withoutCookies(answer);
}
