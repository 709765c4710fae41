import { methodSpec, waitingMethodSpec, z } from "svc/sdk";
import { idText } from "svc/sdk/internal";

const agentId = idText(64);
const pluginId = idText(64);
const sessionKey = idText(512);
const id = idText(256);
const ownId = z
  .string()
  .regex(/^(?!plugin:)[\w.:-]{1,128}$/, "expected letters, digits and . _ : -, at most 128, not beginning with plugin:");
const byId = z.strictObject({ id });
/** With `ended` the newest requests that nobody answered follow the pending ones. */
const listing = z.strictObject({ ended: z.boolean().optional() });
/** Any word gets as far as the question whether it may be said here: the answer to a wrong one is `invalid decision`. */
const decision = z.string().min(1).max(64);
const decisions = z.enum(["allow-once", "allow-always", "deny"]);
const MAX_COMMAND_CHARS = 32_768;
/** At least one of the two: text as a person would type it, or the arguments one by one. */
const commandText = z.string().min(1).max(MAX_COMMAND_CHARS);
const commandArgv = z
  .array(z.string())
  .min(1)
  .max(1_000)
  .refine(
    (argv) => argv.reduce((sum, text) => sum + text.length, 0) <= MAX_COMMAND_CHARS,
    `expected at most ${MAX_COMMAND_CHARS} characters together`,
  );

/** Questions to a person before something is done. */
export const approvalsMethods = {
  "exec.approval.request": methodSpec(
    "approvals",
    "requests approval of a command; with `twoPhase` first `accepted`, then the decision",
    z
      .strictObject({
        id: ownId.optional(),
        command: commandText.optional(),
        commandArgv: commandArgv.optional(),
        cwd: z.string().min(1).max(4_096).optional(),
        host: z.string().min(1).max(256).optional(),
        agentId: agentId.optional(),
        sessionKey: sessionKey.optional(),
        ask: z.enum(["off", "on-miss", "always"]).optional(),
        security: z.enum(["deny", "allowlist", "full"]).optional(),
        timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
        twoPhase: z.boolean().optional(),
      })
      .refine((p) => p.command !== undefined || p.commandArgv !== undefined, {
        path: ["command"],
        error: "command or commandArgv required",
      }),
  ),
  "exec.approval.get": methodSpec("approvals", "one request to run a command", byId),
  "exec.approval.list": methodSpec(
    "approvals",
    "pending requests to run commands, oldest first; with `ended` also those that recently ended unanswered",
    listing,
  ),
  "exec.approval.waitDecision": waitingMethodSpec("approvals", "waits for the decision, which stays available for 15 s", byId),
  "exec.approval.resolve": methodSpec("approvals", "decides; the first answer wins", z.strictObject({ id, decision })),
  "plugin.approval.request": methodSpec(
    "approvals",
    "requests approval of a plugin's action; with `twoPhase` first `accepted`, then the decision",
    z.strictObject({
      title: z.string().min(1).max(80),
      description: z.string().min(1).max(512),
      pluginId: pluginId.optional(),
      severity: z.enum(["info", "warning", "critical"]).optional(),
      toolName: z.string().min(1).max(256).optional(),
      toolCallId: idText(256).optional(),
      agentId: agentId.optional(),
      sessionKey: sessionKey.optional(),
      allowedDecisions: z.array(decisions).min(1).max(3).optional(),
      timeoutMs: z.number().int().min(1).max(600_000).optional(),
      twoPhase: z.boolean().optional(),
    }),
  ),
  "plugin.approval.get": methodSpec("approvals", "one request of a plugin", byId),
  "plugin.approval.list": methodSpec(
    "approvals",
    "pending requests of plugins, oldest first; with `ended` also those that recently ended unanswered",
    listing,
  ),
  "plugin.approval.waitDecision": waitingMethodSpec("approvals", "waits for the decision, which stays available for 15 s", byId),
  "plugin.approval.resolve": methodSpec("approvals", "decides; the first answer wins", z.strictObject({ id, decision })),
} as const;
