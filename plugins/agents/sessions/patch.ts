import type { ParamsOf, SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { patchOp, type SessionChange } from "../runs/writes.ts";
import { checkCurrent, commitFor } from "./changes.ts";
import { checkLabel, existing, withSession } from "./find.ts";

export type Patch = Omit<ParamsOf<"sessions.patch">, "key">;

/** Changes what a person set on a session; `null` goes back to the default. */
export async function patchSession(kit: Kit, key: string, patch: Patch): Promise<SessionRow> {
  const { agentId } = existing(kit, key);
  return withSession(kit, { key, agentId, label: patch.label }, async () => {
    const row = existing(kit, key);
    checkCurrent(row, patch.expectedSessionId);
    if (patch.label) checkLabel(kit, row, patch.label);
    const model = patch.model ? await kit.models.check(kit.directory.get(row.agentId), patch.model) : undefined;
    const change = { ...toRowChange(patch), ...(model ? { model: `${model.provider}/${model.model}` } : {}) };
    await commitFor(key, kit, [patchOp(key, change, row.sessionId)]);
    const after = kit.store().sessions.get(key) ?? row;
    kit.events.sessionChanged(after, { reason: "patch" });
    return after;
  });
}

/** The flags that every row has are cleared to false, everything else is left out of the row. */
function toRowChange({ expectedSessionId: _, archived, pinned, unread, ...rest }: Patch): SessionChange {
  const flags = Object.entries({ archived, pinned, unread }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value ?? false]],
  );
  const others = Object.entries(rest).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...flags, ...others]) as SessionChange;
}
