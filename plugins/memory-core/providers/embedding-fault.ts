import { type EmbeddingError, type EmbeddingFault, messageOf } from "svc/sdk";

/** An `EmbeddingError` as plain data. */
export interface PlainEmbeddingFault {
  fault: EmbeddingFault;
  message: string;
  status?: number;
  retryAfterMs?: number;
}

/** Undefined for what is no `EmbeddingError` of any SDK copy. */
export function embeddingFaultOf(error: unknown): PlainEmbeddingFault | undefined {
  if (!isEmbeddingError(error)) return undefined;
  const { fault, message, status, retryAfterMs } = error;
  return { fault, message, ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Converts anything an adapter threw to a fault; an unknown value counts as an unusable answer. */
export function faultOf(error: unknown): PlainEmbeddingFault {
  const known = embeddingFaultOf(error);
  if (known) return known;
  // A provider that was closed meanwhile: its successor may be asked the same.
  if (error instanceof Error && error.name === "AbortError") return { fault: "network", message: messageOf(error) };
  const code = (error as { code?: unknown } | undefined)?.code;
  const isSystem = typeof code === "string" && /^E[A-Z_]+$/.test(code);
  return { fault: isSystem ? "network" : "bad-response", message: messageOf(error) };
}

function isEmbeddingError(error: unknown): error is EmbeddingError {
  return error instanceof Error && error.name === "EmbeddingError";
}
