import type { InboundEvent, SvcConfig } from "svc/sdk";

type Binding = SvcConfig["bindings"][number];
type Match = Binding["match"];

export interface BindingPlace {
  channel: string;
  accountId: string;
  isCaseSensitive: boolean;
}

/** Orders of the rules, most exact first; the first that applies to a binding is its rank. */
const ranks: ReadonlyArray<(match: Match) => boolean> = [
  ({ peer }) => peer !== undefined && peer.id !== "*",
  ({ parentPeer }) => parentPeer !== undefined,
  ({ peer }) => peer !== undefined,
  ({ teamId, roles }) => teamId !== undefined && roles !== undefined,
  ({ teamId, roles }) => teamId !== undefined || roles !== undefined,
  ({ accountId }) => accountId !== undefined,
  () => true,
];

/** Agent that answers a message by `bindings`: of those whose every field matches the most exact one, of equals the first. Undefined: none does. Pure. */
export function boundAgent(event: InboundEvent, place: BindingPlace, bindings: readonly Binding[]): string | undefined {
  const matching = bindings.filter(({ match }) => matches(match, event, place));
  for (const isOfRank of ranks) {
    const found = matching.find(({ match }) => isOfRank(match));
    if (found) return found.agentId;
  }
  return undefined;
}

function matches(match: Match, event: InboundEvent, { channel, accountId, isCaseSensitive }: BindingPlace): boolean {
  const same = (a: string, b: string) => (isCaseSensitive ? a === b : a.toLowerCase() === b.toLowerCase());
  const isOne = (wanted: string, id: string | undefined) => id !== undefined && (wanted === "*" || same(wanted, id));
  // A direct message is of its sender, whatever name the conversation has.
  const peerId = event.chatType === "direct" ? event.sender.id : event.peer.id;
  const { peer, parentPeer, teamId, roles } = match;
  return (
    match.channel === channel &&
    (match.accountId === undefined || match.accountId === accountId) &&
    (peer === undefined || (peer.kind === event.chatType && isOne(peer.id, peerId))) &&
    (parentPeer === undefined || (parentPeer.kind === event.chatType && isOne(parentPeer.id, event.parentPeerId))) &&
    (teamId === undefined || (event.teamId !== undefined && same(teamId, event.teamId))) &&
    (roles === undefined || roles.some((role) => event.sender.roles?.includes(role)))
  );
}
