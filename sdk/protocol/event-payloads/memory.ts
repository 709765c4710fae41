import { z } from "zod";
import { agentId, count } from "../results/fields.ts";

/** Events about memory. */
export const memoryPayloads = {
  "memory.progress": z.object({
    agentId,
    phase: z.enum(["scan", "embed", "write", "swap", "done", "error"]),
    done: count,
    total: count.describe("0 while it is not known"),
    error: z.string().exactOptional(),
  }),
};
