import type { ModelInfo } from "svc/sdk";
import { thinkingStyleOf } from "./thinking.ts";

/** Returns what is known of a model by its id: whether a Gemini thinks, and what it reads; every one since 1.5 reads all of these. Pure. */
export function factsOf(id: string): Omit<ModelInfo, "id"> {
  if (!id.includes("gemini-")) return {};
  return { reasoning: thinkingStyleOf(id, undefined) !== "none", input: ["text", "image", "pdf", "audio"] };
}
