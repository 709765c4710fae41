import type { IncomingMessage, ServerResponse } from "node:http";
import { HTTPResponse } from "h3";
import type { HttpReply } from "../../sdk/types/http.ts";

/** What h3 takes for "somebody has answered already": it only ends the answer. */
const HANDLED = Symbol.for("h3.handled");
/** Answers that have no body, whatever a route gave. */
const bodiless = new Set([204, 205, 304]);

/** A complete answer, straight to the connection: by way of web headers and a web response it costs as much as the rest of a small request. */
export function sendReply(
  { status = 200, headers = {}, body }: HttpReply,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): unknown {
  const isPlain = req.method !== "HEAD" && status >= 200 && status <= 599 && !bodiless.has(status);
  if (!isPlain) return new HTTPResponse(body as string, { status, headers });
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] as string);
  if (typeof body === "string" && !res.hasHeader("content-type")) res.setHeader("Content-Type", "text/plain; charset=UTF-8");
  res.setHeader("Content-Length", Buffer.byteLength(body));
  res.writeHead(status);
  // Held back until the end comes, so that all of it is one packet.
  if (body.length > 0) res.write(body);
  return HANDLED;
}
