import type { IncomingMessage, ServerResponse } from "node:http";
import { HTTPResponse } from "h3";
import type { HttpReply } from "../../sdk/types/http.ts";

/** Answers that have no body, whatever a route gave. */
const bodiless = new Set([204, 205, 304]);

/**
 * A complete answer, straight to the connection: by way of web headers and a web response it costs as much as the rest of a small request.
 * @param web sends what is not plain
 */
export function sendReply(
  { status = 200, headers = {}, body }: HttpReply,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  web: (answer: HTTPResponse) => void,
): void {
  const isPlain = req.method !== "HEAD" && status >= 200 && status <= 599 && !bodiless.has(status);
  if (!isPlain) return web(new HTTPResponse(body as string, { status, headers }));
  for (const name in headers) res.setHeader(name, headers[name] as string);
  if (typeof body === "string" && !res.hasHeader("content-type")) res.setHeader("Content-Type", "text/plain; charset=UTF-8");
  const bytes = Buffer.byteLength(body);
  res.setHeader("Content-Length", bytes);
  res.writeHead(status);
  // A text of as many bytes as characters is the same in both encodings; the shorter one is written without a copy.
  if (typeof body === "string" && bytes === body.length) res.end(body, "latin1");
  else res.end(body);
}
