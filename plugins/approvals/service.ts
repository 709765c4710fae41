import type { Approvals } from "svc/sdk";
import type { Desk } from "./desk.ts";

/** Service for other plugins; a request whose requester gives up is withdrawn at once. */
export function createApprovals(desk: Pick<Desk, "askChecked" | "board">): Approvals {
  return {
    async request(question, { signal } = {}) {
      signal?.throwIfAborted();
      const { record, done } = await desk.askChecked(question);
      const withdraw = () => desk.board.close(record.id, "cancelled");
      signal?.addEventListener("abort", withdraw, { once: true });
      if (signal?.aborted) withdraw();
      const outcome = await done;
      signal?.removeEventListener("abort", withdraw);
      if (outcome.terminalReason === "cancelled") signal?.throwIfAborted();
      return outcome;
    },
  };
}
