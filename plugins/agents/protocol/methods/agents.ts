import { methodSpec, z } from "svc/sdk";
import { idExpectation, idPattern, idText } from "svc/sdk/internal";
import { agentId, idempotencyKey, none, sessionKey } from "./fields.ts";

const name = z.string().trim().min(1).max(64).regex(idPattern, idExpectation);
const workspace = z.string().min(1).max(4_096);
const model = z.string().min(1).max(256);
/** Use a folder that holds files already. */
const adopt = z.boolean();
const emoji = idText(32);
const avatar = z.string().min(1).max(4_096);
/** Any text gets as far as the question which files there are: the answer to another one is `unsupported file`. */
const fileName = z.string().max(256);

/** Agents and their tools. */
export const agentsMethods = {
  "agent.identity.get": methodSpec(
    "read",
    "name and avatar of an agent",
    z.strictObject({ agentId: agentId.optional(), sessionKey: sessionKey.optional() }),
  ),
  "agents.list": methodSpec("read", "configured agents", none),
  "agents.create": methodSpec(
    "admin",
    "adds an agent to the config; its id is derived from its name; a workspace that holds files already needs `adopt: true`",
    z.strictObject({
      name,
      workspace: workspace.optional(),
      adopt: adopt.optional(),
      model: model.optional(),
      emoji: emoji.optional(),
      avatar: avatar.optional(),
    }),
  ),
  "agents.update": methodSpec(
    "admin",
    "changes an agent in the config; `model: null` gives it the default model",
    z.strictObject({
      agentId,
      name: name.optional(),
      workspace: workspace.optional(),
      adopt: adopt.optional(),
      model: model.nullable().optional(),
      emoji: emoji.optional(),
      avatar: avatar.optional(),
    }),
  ),
  "agents.delete": methodSpec(
    "admin",
    "removes an agent from the config; folders that svc made for it go to the trash of the state directory, others stay in place",
    z.strictObject({ agentId, deleteFiles: z.boolean().optional() }),
  ),
  "agents.files.list": methodSpec("read", "the files that an agent's prompt is made of", z.strictObject({ agentId })),
  "agents.files.get": methodSpec("read", "one of these files, with its hash", z.strictObject({ agentId, name: fileName })),
  "agents.files.set": methodSpec(
    "admin",
    "replaces one of these files; `expectedHash` of another state is refused",
    z.strictObject({
      agentId,
      name: fileName,
      content: z.string().max(1_048_576),
      expectedHash: z.string().min(1).max(128).optional(),
    }),
  ),
  "tools.catalog": methodSpec(
    "read",
    "all tools, by group, with the profiles that contain them",
    z.strictObject({ agentId: agentId.optional(), includePlugins: z.boolean().optional() }),
  ),
  "tools.effective": methodSpec("read", "the tools an agent may use in a session", z.strictObject({ sessionKey })),
  "tools.invoke": methodSpec(
    "write",
    "runs one tool under the policy of an agent; refusals are `ok: false` inside the answer",
    z.strictObject({
      name: z.string().min(1).max(128),
      args: z.record(z.string(), z.unknown()).optional(),
      sessionKey: sessionKey.optional(),
      agentId: agentId.optional(),
      idempotencyKey: idempotencyKey.optional(),
    }),
  ),
} as const;
