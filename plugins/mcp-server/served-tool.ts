import type { HttpCall, PluginContext, ToolResult, z } from "svc/sdk";

/** One call of a tool by a client. */
export interface ServedCall {
  ctx: PluginContext;
  http: HttpCall;
  signal: AbortSignal;
  /** Shows the client that the call goes on; absent: it did not ask for that. */
  progress: ((message: string) => void) | undefined;
}

/** A tool that clients get. */
export interface ServedTool {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  isReadOnly: boolean;
  /** The policy of the agent that it is about decides; else only the lists of `gateway.tools`. */
  isOfAgent: boolean;
  run(args: never, call: ServedCall): Promise<ToolResult>;
}
