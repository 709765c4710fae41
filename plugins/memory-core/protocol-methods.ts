import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const agentId = idText(64);
/** `MEMORY.md`, or a Markdown file below `memory/`; anything else is answered with what was expected. */
const notePath = z.string().min(1).max(4_096);

/** Methods of the protocol that the plugin in the slot `memory` serves. */
export const memoryMethods = {
  "memory.search": methodSpec(
    "read",
    "passages found in an agent's memory",
    z.strictObject({
      query: z.string(),
      agentId: agentId.optional(),
      maxResults: z.number().int().min(1).max(200).optional(),
      minScore: z.number().min(0).max(1).optional(),
    }),
  ),
  "memory.get": methodSpec(
    "read",
    "text of one memory file, or lines of it",
    z.strictObject({
      agentId: agentId.optional(),
      path: z.string().max(4096),
      from: z.number().int().min(1).optional(),
      lines: z.number().int().min(1).optional(),
    }),
  ),
  "memory.files.get": methodSpec("read", "one note whole, with its hash", z.strictObject({ agentId: agentId.optional(), path: notePath })),
  "memory.files.set": methodSpec(
    "admin",
    "replaces a note, or makes it; `expectedHash` of another state is refused, null is for a note that is not there yet",
    z.strictObject({
      agentId: agentId.optional(),
      path: notePath,
      content: z.string().max(1_048_576),
      expectedHash: z.string().min(1).max(128).nullable(),
    }),
  ),
  "memory.status": methodSpec(
    "read",
    "state of an agent's index",
    z.strictObject({ agentId: agentId.optional(), deep: z.boolean().optional() }),
  ),
  "memory.index": methodSpec(
    "admin",
    "starts or joins a sync; `force` rebuilds",
    z.strictObject({ agentId: agentId.optional(), force: z.boolean().optional() }),
  ),
  "doctor.memory.status": methodSpec(
    "read",
    "whether an agent's embedding provider can be used; calls it only with `probe`",
    z.strictObject({ agentId: agentId.optional(), probe: z.boolean().optional() }),
  ),
  "memory.prepare": methodSpec(
    "admin",
    "brings to this machine what an embedding provider needs, such as the file of a model; answers twice: accepted, and when it is there",
    z.strictObject({ agentId: agentId.optional(), provider: idText(64), modelPath: z.string().min(1).max(4096).optional() }),
  ),
  "memory.reset": methodSpec("admin", "drops the index, never the files", z.strictObject({ agentId: agentId.optional() })),
} as const;
