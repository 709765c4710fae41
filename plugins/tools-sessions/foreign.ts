import { stripFrames, type ToolResult, wrapExternal } from "svc/sdk";

/** Text that came about in another session, as the agent reads it: people, pages and webhooks may have written it there. */
export function framed(text: string, { source, from }: { source: string; from?: string }): string {
  return wrapExternal(stripFrames(text), { source, ...(from === undefined ? {} : { from }) });
}

/** Facts about other sessions: JSON in a frame for the model, and as they are for events. */
export function foreignFacts(facts: object, from?: string): ToolResult {
  const text = framed(JSON.stringify(facts, null, 1), { source: "Sessions", ...(from === undefined ? {} : { from }) });
  return { content: [{ type: "text", text }], details: facts };
}
