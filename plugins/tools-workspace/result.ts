import { isSvcError, neutralize, type ToolResult } from "svc/sdk";

/** Text for the model, with what looks like a frame's marker defused, and facts for events. */
export function texts(parts: readonly string[], details?: unknown): ToolResult {
  const content = parts.filter((text) => text !== "").map((text) => ({ type: "text" as const, text: neutralize(text) }));
  return { content, ...(details === undefined ? {} : { details }) };
}

/** One sentence about what cannot be done. */
export function refused(text: string): ToolResult {
  return { content: [{ type: "text", text: neutralize(text) }], isError: true };
}

/** Makes a result of a refusal: the model may mend its call. */
export async function orRefused(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (isSvcError(error, "unsafe-file")) return refused(error.message);
    throw error;
  }
}

/** A refusal that leaves the middle of a change. */
export class Refusal extends Error {}
