import { type PluginProtocol, z } from "svc/sdk";

const count = z.number().int().min(0);

/** Events about memory. */
export const memoryEvents = {
  "memory.progress": {
    scope: "read",
    droppable: true,
    about: "progress of an index sync or of the download of a model, at most ten a second",
    payload: z.object({
      agentId: z.string().min(1),
      phase: z.enum(["download", "scan", "embed", "write", "swap", "done", "error"]),
      done: count,
      total: count.describe("0 while it is not known"),
      error: z.string().exactOptional(),
    }),
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
