import { isSvcError, type SvcError } from "../../sdk/errors.ts";
import { jsonTextFault, strictJsonLimits } from "../../sdk/internal/json-shape.ts";
import { RawJson } from "../../sdk/internal/raw-json.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import { type RequestFrame, requestFrame, type WireError } from "../../sdk/protocol/frames.ts";
import type { LogFields } from "../../sdk/types/common.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import { protocolErrors } from "../errors.ts";
import { toWireError } from "./methods/registry.ts";

/** Longer frames are named in a trace line, not shown. */
const MAX_TRACED_CHARS = 2_000;

/** Reads a request; the refusal, not thrown, names the request where its id can be read. */
export function parseRequest(text: string): RequestFrame | SvcError {
  // Not parsed at all: 25 MB of brackets would take more than a gigabyte.
  const fault = jsonTextFault(text, strictJsonLimits);
  if (fault !== undefined) return protocolErrors.invalidFrame({ reason: `the frame is ${fault}`, ...leadingId(text) });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return protocolErrors.invalidFrame({ reason: "not JSON" });
  }
  const id = (value as { id?: unknown } | null)?.id;
  const invalid = (reason: string) => protocolErrors.invalidFrame({ reason, ...(typeof id === "string" && id ? { id } : {}) });
  const parsed = requestFrame.safeParse(value);
  return parsed.success ? parsed.data : invalid(formatIssues(parsed.error.issues));
}

/** The id of a frame that begins as clients write it, so that a refusal reaches its request; without it the refusal is that of an unknown frame. */
function leadingId(text: string): { id?: string } {
  const id = /^\{"type":"req","id":"([^"\\]{1,128})"/.exec(text)?.[1];
  return id === undefined ? {} : { id };
}

/** Formats the answer to a request; a result that is JSON text already is sent as it is. */
export function formatAnswer(id: string, payload: unknown): string {
  const body = payload instanceof RawJson ? payload.text : JSON.stringify(payload === undefined ? {} : payload);
  return `{"type":"res","id":${JSON.stringify(id)},"ok":true,"payload":${body}}`;
}

/** Formats the refusal of a request. */
export function formatRefusal(id: string, error: unknown): string {
  const wire: WireError = toWireError(error);
  const extra = isSvcError(error) && error.payload !== undefined ? `,"payload":${JSON.stringify(error.payload)}` : "";
  return `{"type":"res","id":${JSON.stringify(id)},"ok":false${extra},"error":${JSON.stringify(wire)}}`;
}

/** Cuts a close reason to the 123 bytes that a close frame takes. */
export function closeReason(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, 123)
    .toString("utf8")
    .replace(/(?<!\uFFFD)\uFFFD+$/, "");
}

/** Close code and reason after a handshake was refused with this error. */
export function refusalClose(error: SvcError): { code: number; reason: string } {
  switch (error.code) {
    case "protocol-mismatch":
      return { code: 1002, reason: error.message };
    case "gateway-starting":
      return { code: 1013, reason: "gateway starting" };
    case "draining":
      return { code: 1001, reason: "gateway stopping" };
    case "pairing-required":
      return { code: 1008, reason: `${error.message} (requestId: ${String(error.fields.requestId)})` };
    default:
      return { code: 1008, reason: error.message };
  }
}

/** A frame as the log may show it: values of sensitive keys are masked there, so it is passed as an object. */
export function tracedFrame(text: string, info: ClientInfo | undefined): LogFields {
  const at = { connId: info?.connId ?? "not greeted", chars: text.length };
  if (text.length <= MAX_TRACED_CHARS) {
    try {
      return { ...at, frame: JSON.parse(text) };
    } catch {
      return { ...at, frame: "not JSON" };
    }
  }
  const [, name] = /"(?:event|method)":"([\w.-]{1,64})"/.exec(text.slice(0, 200)) ?? [];
  return { ...at, ...(name === undefined ? {} : { name }) };
}
