import { randomUUID } from "node:crypto";
import type { ParamsOf, SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { tellNewTranscript } from "../runs/accept.ts";
import { patchOp, type SessionChange } from "../runs/writes.ts";
import { commitFor } from "./commit-for.ts";
import { existing, present } from "./find.ts";
import { newSession } from "./row.ts";

type Wanted = Pick<ParamsOf<"sessions.create">, "key" | "agentId" | "label" | "model" | "thinkingLevel" | "parentSessionKey">;

/**
 * Makes a session, or takes the one that has the key and sets on it what was asked for.
 * @throws {SvcError} `unknown-agent`, `invalid-session-key`, `unknown-session` for the parent, `label-taken`, `invalid-model`, `model-not-allowed`
 */
export async function createSession(kit: Kit, wanted: Wanted): Promise<SessionRow> {
  const named = { sessionKey: wanted.key ?? randomUUID(), ...(wanted.agentId === undefined ? {} : { agentId: wanted.agentId }) };
  const { agentId, sessionKey: key } = kit.directory.resolve(named);
  const parent =
    wanted.parentSessionKey && (await existing(kit, kit.directory.resolve({ sessionKey: wanted.parentSessionKey }).sessionKey)).key;
  const model = wanted.model === undefined ? undefined : await kit.models.check(kit.directory.get(agentId), wanted.model);
  const set: SessionChange = {
    ...(wanted.label === undefined ? {} : { label: wanted.label }),
    ...(model ? { model: `${model.provider}/${model.model}` } : {}),
    ...(wanted.thinkingLevel === undefined ? {} : { thinkingLevel: wanted.thinkingLevel }),
    ...(parent ? { parentSessionKey: parent } : {}),
  };
  return kit.sessionLock.run(key, async () => {
    const before = await kit.store().sessions.get(key);
    return before
      ? adopt(kit, before, set)
      : make(kit, { ...newSession(key, agentId, kit.ctx.clock.now()), ...(set as Partial<SessionRow>) });
  });
}

async function make(kit: Kit, session: SessionRow): Promise<SessionRow> {
  await commitFor(session.key, kit, [{ op: "session.put", session, ifAbsent: true, uniqueLabel: true }]);
  kit.events.sessionChanged(session, { reason: "create" });
  kit.ends.used({ sessionKey: session.key, agentId: session.agentId, sessionId: session.sessionId });
  tellNewTranscript(kit, session, undefined);
  return session;
}

async function adopt(kit: Kit, before: SessionRow, set: SessionChange): Promise<SessionRow> {
  if (Object.keys(set).length === 0) return before;
  await commitFor(before.key, kit, [{ ...patchOp(before.key, set, before.sessionId), uniqueLabel: set.label !== undefined }]);
  const after = (await present(kit, before.key)) ?? before;
  kit.events.sessionChanged(after, { reason: "patch" });
  return after;
}
