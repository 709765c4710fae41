import { isSvcError } from "svc/sdk";
import type { DeliveryKit } from "./kit.ts";

/** Where the end of an action is told: the main session of its agent, or of the default agent when that one is gone. */
export function mainSessionOf(agentId: string | undefined, kit: DeliveryKit): { agentId: string; sessionKey: string } {
  try {
    return kit.agents().resolve(agentId === undefined ? {} : { agentId });
  } catch (error) {
    if (!isSvcError(error, "unknown-agent")) throw error;
    return kit.agents().resolve({});
  }
}
