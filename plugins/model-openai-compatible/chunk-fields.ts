import { isRecord } from "svc/sdk";

/** A chunk of an answer, or a field of one, that is none of the protocol. */
export class StrangeChunk extends Error {}

/** A piece of text of an answer. */
export interface ContentPart {
  type: "text" | "reasoning";
  text: string;
}

/** A piece of a call of a tool, as a vendor sends it. */
export interface CallDelta {
  index: number | null;
  id: string | null;
  function: { name: string | null; arguments: string | null };
  /** Data of the vendor that goes back to it with the call. */
  signature: string | null;
}

type Fields = { readonly [name: string]: unknown };

/** @throws {StrangeChunk} */
export function recordOf(value: unknown): Fields {
  if (!isRecord(value)) throw new StrangeChunk();
  return value;
}

/** A text that may be missing. @throws {StrangeChunk} */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new StrangeChunk();
  return value;
}

/** Texts of content that is a list of parts; those of other kinds are passed over. @throws {StrangeChunk} */
export function contentOf(content: unknown): ContentPart[] {
  return listOf(content).flatMap((value): ContentPart[] => {
    const { type, text, thinking } = recordOf(value);
    if (typeof type !== "string") throw new StrangeChunk();
    if (type === "text" && typeof text === "string") return [{ type: "text", text }];
    if (type !== "thinking" || !Array.isArray(thinking)) return [];
    const thoughts = thinking.map((one) => (isRecord(one) && one.type === "text" && typeof one.text === "string" ? one.text : ""));
    return [{ type: "reasoning", text: thoughts.join("") }];
  });
}

/** @throws {StrangeChunk} */
export function callDeltasOf(calls: unknown): CallDelta[] {
  return listOf(calls).map((value) => {
    const call = recordOf(value);
    const { name, arguments: args } = recordOf(call.function);
    const google = recordOf(recordOf(call.extra_content ?? {}).google ?? {});
    return {
      index: indexOf(call.index),
      id: textOf(call.id) ?? null,
      function: { name: textOf(name) ?? null, arguments: textOf(args) ?? null },
      signature: textOf(google.thought_signature) ?? null,
    };
  });
}

const nothing: readonly unknown[] = [];

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return nothing;
  if (!Array.isArray(value)) throw new StrangeChunk();
  return value;
}

function indexOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "number") throw new StrangeChunk();
  return value;
}
