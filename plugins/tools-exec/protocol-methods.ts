import { methodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";
import { MAX_PATTERNS } from "./allowed-commands.ts";
import { isOneProgram } from "./patterns.ts";

const pattern = z
  .array(z.string().min(1).max(32_768))
  .min(1)
  .max(500)
  .refine(
    ([program]) => isOneProgram(program),
    "expected a program by its name or its whole path: each folder has another one of a relative path",
  )
  .describe("Words of a command, its program by name or whole path; a last `*` stands for any further ones");
/** The list of commands that need no question, by agent. */
export const allowedFile = z.strictObject({
  agents: z.record(idText(64), z.strictObject({ allow: z.array(pattern).max(MAX_PATTERNS) })),
});

/** The list of commands that a person allowed for good. */
export const execMethods = {
  "exec.approvals.get": methodSpec("admin", "commands that need no approval any more, by agent", z.strictObject({})),
  "exec.approvals.set": methodSpec(
    "admin",
    "replaces that list; `baseHash` is the hash that was read",
    z.strictObject({ file: allowedFile, baseHash: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
} as const;

const answered = z.object({ agents: z.record(z.string(), z.object({ allow: z.array(z.array(z.string())) })) });
const snapshot = z.object({ path: z.string(), exists: z.boolean(), hash: z.string(), file: answered });

export const execResults = { "exec.approvals.get": snapshot, "exec.approvals.set": snapshot };
