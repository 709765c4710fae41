import type { Channel, SvcConfig } from "svc/sdk";

/** Whether `commands.ownerAllowFrom` names somebody on a channel. Only ids that a platform does not tell apart by case are compared in any case. */
export function isListedOwner(
  id: string,
  channel: Pick<Channel, "id" | "capabilities">,
  { commands }: Pick<SvcConfig, "commands">,
): boolean {
  const fold = (peer: string) => (channel.capabilities.caseSensitiveIds === true ? peer.trim() : peer.trim().toLowerCase());
  return commands.ownerAllowFrom.some((peer) => fold(peer) === fold(`${channel.id}:${id}`));
}
