import type { ParamsOf, SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { patchOp, type SessionChange } from "../runs/writes.ts";
import { checkCurrent } from "./changes.ts";
import { commitFor } from "./commit-for.ts";
import { existing, present } from "./find.ts";

export type Patch = Omit<ParamsOf<"sessions.patch">, "key">;

/** Changes what a person set on a session; `null` goes back to the default. */
export async function patchSession(kit: Kit, key: string, patch: Patch): Promise<SessionRow> {
  return kit.sessionLock.run(key, async () => {
    const row = await existing(kit, key);
    checkCurrent(row, patch.expectedSessionId);
    const model = patch.model ? await kit.models.check(kit.directory.get(row.agentId), patch.model) : undefined;
    const change = { ...toRowChange(patch), ...(model ? { model: `${model.provider}/${model.model}` } : {}) };
    await commitFor(key, kit, [{ ...patchOp(key, change, row.sessionId), uniqueLabel: change.label !== undefined }]);
    const after = (await present(kit, key)) ?? row;
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
