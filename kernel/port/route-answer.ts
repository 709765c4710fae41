import { Readable } from "node:stream";
import type { HttpReply } from "../../sdk/types/http.ts";

/** Names of the members of an `HttpReply`; an object with any other is JSON. */
const replyKeys = new Set(["status", "headers", "body"]);

/** A handler returned what cannot be sent; for the log, since the caller is told only that the request failed. */
export class BadAnswer extends Error {
  constructor(returned: string) {
    super(`its handler returned ${returned}; expected a Response, text, bytes, a stream or a JSON value`);
    this.name = "BadAnswer";
  }
}

/**
 * Makes an answer of what a route handler returned: a `Response` or an `HttpReply` as it is, text, bytes, streams, and any other value as JSON.
 * @throws {BadAnswer} for what is none of these
 */
export function toAnswer(value: unknown): Response | HttpReply {
  if (value instanceof Response) return unused(value);
  if (typeof value === "string") return { body: value };
  if (typeof value !== "object") return json(value);
  if (value === null) return json(null);
  if (isReply(value)) return withSendableStatus(value);
  if (ArrayBuffer.isView(value)) return bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return bytes(new Uint8Array(value));
  if (value instanceof Blob) return new Response(value);
  if (value instanceof ReadableStream) return webStream(value);
  if (isNodeStream(value)) return nodeStream(value);
  if (isForeignResponse(value)) return unused(new Response(value.body, { status: value.status, headers: [...value.headers] }));
  if (Symbol.asyncIterator in value) return nodeStream(Readable.from(value as AsyncIterable<unknown>, { objectMode: false }));
  return json(value);
}

function unused(answer: Response): Response {
  if (answer.bodyUsed || answer.body?.locked) throw new BadAnswer("a Response whose body was used already");
  if (answer.status < 200) throw new BadAnswer(`a Response of type "${answer.type}"`);
  return answer;
}

function isReply(value: object): value is HttpReply {
  const { status, headers, body } = value as Partial<Record<keyof HttpReply, unknown>>;
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return false;
  if (status !== undefined && !Number.isInteger(status)) return false;
  if (headers !== undefined && (typeof headers !== "object" || headers === null)) return false;
  for (const key in value) if (!replyKeys.has(key)) return false;
  return true;
}

function withSendableStatus(reply: HttpReply): HttpReply {
  const { status = 200 } = reply;
  if (status < 200 || status > 599) throw new BadAnswer(`a reply with status ${status}`);
  return reply;
}

function bytes(body: Uint8Array): HttpReply {
  return { headers: { "Content-Type": "application/octet-stream" }, body };
}

function webStream(stream: ReadableStream): Response {
  if (stream.locked) throw new BadAnswer("a stream that is read already");
  return new Response(stream, { headers: { "Content-Type": "application/octet-stream" } });
}

function isNodeStream(value: object): value is Readable {
  const { pipe, on } = value as { pipe?: unknown; on?: unknown };
  return typeof pipe === "function" && typeof on === "function";
}

function nodeStream(stream: Readable): Response {
  stream.on("error", () => undefined); // the end of the answer says so
  if (stream.destroyed || stream.readableDidRead || stream.readable === false)
    throw new BadAnswer("a stream that was read or ended already");
  // Pieces of text come as text from a stream of objects; an answer is made of bytes.
  const pieces = stream.readableObjectMode ? Readable.from(stream, { objectMode: false }) : stream;
  return webStream(Readable.toWeb(pieces) as ReadableStream);
}

/** A `Response` of another copy of the web's classes, such as that of a fetch package. */
function isForeignResponse(value: object): value is Response {
  const { status, headers, arrayBuffer } = value as { status?: unknown; headers?: unknown; arrayBuffer?: unknown };
  return typeof arrayBuffer === "function" && typeof status === "number" && Symbol.iterator in Object(headers);
}

function json(value: unknown): HttpReply {
  return { headers: { "Content-Type": "application/json; charset=utf-8" }, body: jsonText(value) };
}

function jsonText(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) throw new BadAnswer(String(value));
  if (value instanceof Error) throw new BadAnswer(`an error instead of throwing it (${value.message.split("\n", 1)[0]})`);
  if (value instanceof Map || value instanceof Set || value instanceof Promise) throw new BadAnswer(`a ${value.constructor.name}`);
  if (typeof value === "bigint") throw new BadAnswer("a bigint");
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new BadAnswer(`an object that has no JSON form (${(error as Error).message.split("\n", 1)[0]})`);
  }
  if (text === undefined) throw new BadAnswer(value === undefined ? "nothing (undefined)" : `a ${typeof value}`);
  return text;
}
