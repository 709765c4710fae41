import type { StreamPart } from "svc/sdk/internal";
import { asCallError } from "./faults.ts";

/**
 * The package's stream with what it leaves unsaid: the vendor reports no reason for an ordinary end, so such an end gets the package's own word, and only an
 * answer that was cut off has none. Reasoning without a summary is added to `sealed`.
 * @throws what the vendor reported in mid-answer, with the status it would have had
 */
export async function* completed(parts: AsyncIterable<StreamPart>, sealed: WeakSet<object>): AsyncIterable<StreamPart> {
  const withText = new Set<string>();
  for await (const part of parts) {
    if (part.type === "error") throw asCallError(part.error);
    if (part.type === "reasoning-delta" && part.delta !== "") withText.add(part.id);
    if (part.type === "reasoning-end" && part.providerMetadata && !withText.has(part.id)) sealed.add(part.providerMetadata);
    if (part.type === "finish" && part.finishReason.unified !== "other" && part.finishReason.raw === undefined) {
      yield { ...part, finishReason: { ...part.finishReason, raw: part.finishReason.unified } };
    } else {
      yield part;
    }
  }
}
