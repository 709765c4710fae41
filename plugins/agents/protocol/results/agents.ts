import { z } from "svc/sdk";
import { agentId, count, epochMs } from "./fields.ts";

const text = z.string();

const identity = z.object({ name: text.exactOptional(), emoji: text.exactOptional(), avatar: text.exactOptional() });

const agent = z.object({
  id: agentId,
  name: text.exactOptional(),
  identity: identity.exactOptional(),
  workspace: text,
  model: z.object({ primary: text, fallbacks: z.array(text).exactOptional() }).exactOptional(),
});

const fileRow = z.object({
  name: text,
  path: text,
  missing: z.boolean(),
  size: count.exactOptional(),
  updatedAtMs: epochMs.exactOptional(),
});

const file = z.object({
  ok: z.literal(true).exactOptional(),
  agentId,
  workspace: text,
  file: z.object({
    ...fileRow.shape,
    hash: text.exactOptional().describe("SHA-256 of the bytes, hex; absent for a missing file"),
    content: text.exactOptional(),
  }),
});

/** Answers about agents and their files. */
export const agentsResults = {
  "agents.list": z.object({ defaultId: agentId, mainKey: text, scope: z.enum(["per-sender", "global"]), agents: z.array(agent) }),
  "agents.create": z.object({
    ok: z.literal(true),
    agentId,
    name: text,
    workspace: text,
    restartRequired: z
      .literal(true)
      .exactOptional()
      .describe("it is written down, and there after a restart that another change waits for"),
  }),
  "agents.update": z.object({ ok: z.literal(true), agentId }),
  "agents.delete": z.object({
    ok: z.literal(true),
    agentId,
    removedBindings: count,
    trash: text.exactOptional().describe("where its files are now"),
    kept: z.array(text).exactOptional().describe("folders that were not moved, and why"),
  }),
  "agents.files.list": z.object({ agentId, workspace: text, files: z.array(fileRow) }),
  "agents.files.get": file,
  "agents.files.set": file,
};
