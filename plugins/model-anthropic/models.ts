import type { ModelInfo } from "svc/sdk";
import { thinkingStyleOf } from "./thinking.ts";

/** Claude before its third generation. */
const textOnly = /claude-(?:instant|v?[12](?!\d))/;

/** Returns what is known of a model by its id: whether a Claude thinks, and what it reads. Pure. */
export function factsOf(id: string): Omit<ModelInfo, "id"> {
  if (!id.includes("claude-")) return {};
  return { reasoning: thinkingStyleOf(id, undefined) !== "none", input: textOnly.test(id) ? ["text"] : ["text", "image", "pdf"] };
}
