import type { Channel, MessageRoute, SvcConfig } from "svc/sdk";
import { policyOf } from "../accounts/policy.ts";
import { matchesSender } from "../inbound/admission.ts";
import type { Pairings } from "../pairing/pairings.ts";

/**
 * True for a recipient that the operator has named: in `allowFrom`, by pairing, or as a group in `groups`. `*` names nobody: it says who may write to the agent, not to
 * whom the agent may write.
 */
export async function isKnownRecipient(
  { channel: id, accountId = "", to = "" }: MessageRoute,
  { config, channel, pairings }: { config: SvcConfig; channel: Channel; pairings: Pick<Pairings, "isPaired"> },
): Promise<boolean> {
  const policy = policyOf(config, id, accountId);
  const isCaseSensitive = channel.capabilities.caseSensitiveIds === true;
  const fold = (text: string) => (isCaseSensitive ? text.trim() : text.trim().toLowerCase());
  const group = Object.entries(policy.groups).find(([name]) => name !== "*" && fold(name) === fold(to))?.[1];
  if (group) return policy.groupPolicy !== "disabled" && group.enabled;
  if (policy.dmPolicy === "disabled") return false;
  const named = policy.allowFrom.filter((entry) => entry.trim() !== "*");
  if (matchesSender(named, { id: to }, { matchesNames: false, isCaseSensitive })) return true;
  return policy.dmPolicy === "pairing" && (await pairings.isPaired({ channel: id, accountId }, to));
}
