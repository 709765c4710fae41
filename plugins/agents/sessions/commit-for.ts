import { isSvcError, type OpResult, type StoreOp } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";

/** A commit about one session; the store's word for a transcript that has changed becomes the protocol's. */
export async function commitFor(key: string, kit: Pick<Kit, "store">, ops: StoreOp[]): Promise<OpResult[]> {
  return kit
    .store()
    .commit(ops)
    .catch((error) => {
      throw toAgentError(error, key);
    });
}

/** The store's words for a session that has changed, or a label that another one has, as those of the protocol; everything else as it is. */
export function toAgentError(error: unknown, key: string): unknown {
  if (isSvcError(error, "session-changed")) return agentErrors.sessionReplaced({ key, reason: "session-changed" }, { cause: error });
  if (isSvcError(error, "label-in-use")) {
    return agentErrors.labelTaken({ label: String(error.fields.label), key: String(error.fields.key) }, { cause: error });
  }
  return error;
}
