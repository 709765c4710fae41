import type { InboundEvent } from "svc/sdk";
import { type AccountPolicy, groupOf } from "../accounts/policy.ts";

/** Reason why a message is not taken on; stands in the log and in the answer to the adapter. */
export type DropReason =
  | "self"
  | "echo"
  | "bot-loop"
  | "empty"
  | "dm-disabled"
  | "dm-not-allowed"
  | "group-disabled"
  | "group-not-listed"
  | "sender-not-allowed"
  | "not-mentioned"
  | "command-not-allowed";

/** Facts that a judgement needs besides the message and the rules. */
export interface AdmissionState {
  /** The account itself wrote it. */
  isOwn: boolean;
  /** It is what the account has just sent. */
  isEcho: boolean;
  /** Two programs answer each other. */
  isBotLoop: boolean;
  /** The sender was approved by pairing. */
  isPaired: boolean;
  /** Looks for a mention, which takes time: asked last. `unknown`: the channel has no way to tell. */
  mention(): "yes" | "no" | "unknown";
  isCommand: boolean;
  /** It is a command that decides what the answers cost: `/model`, `/think`, `/compact`. */
  isCostly: boolean;
  /** It is a command that only owners may give, whatever the lists of the channel say. */
  isForOwners: boolean;
  /** Listed in `commands.ownerAllowFrom`. */
  isOwner: boolean;
  /** Nobody else shares the session of their direct messages. */
  hasOwnSession: boolean;
  isCaseSensitive: boolean;
}

/**
 * `setsRoute`: it decides where `channel: "last"` leads. `pair`: the sender is unknown and may ask to be let in.
 */
export type Admission = { next: "run"; setsRoute: boolean } | { next: "pair" } | { next: "drop"; reason: DropReason };

/** Decides what becomes of a message from a channel, in the order in which the checks are documented. Pure but for `mention`. */
export function admit(event: InboundEvent, policy: AccountPolicy, state: AdmissionState): Admission {
  if (state.isOwn) return drop("self");
  if (state.isEcho) return drop("echo");
  if (state.isBotLoop) return drop("bot-loop");
  if (event.text.trim() === "" && (event.media ?? []).length === 0) return drop("empty");
  return event.chatType === "direct" ? admitDirect(event, policy, state) : admitGroup(event, policy, state);
}

function admitDirect(event: InboundEvent, policy: AccountPolicy, state: AdmissionState): Admission {
  const { dmPolicy, allowFrom } = policy;
  if (dmPolicy === "disabled") return drop("dm-disabled");
  const isListed = matchesSender(allowFrom, event.sender, { ...policy, ...state });
  if (isListed || (dmPolicy === "pairing" && state.isPaired)) {
    const isFree = state.hasOwnSession && !state.isCostly && !state.isForOwners;
    if (state.isCommand && !isFree && !mayCommand(allowFrom, event, policy, state)) return drop("command-not-allowed");
    return { next: "run", setsRoute: isListed || !hasOneOwner(allowFrom) };
  }
  return dmPolicy === "pairing" ? { next: "pair" } : drop("dm-not-allowed");
}

function admitGroup(event: InboundEvent, policy: AccountPolicy, state: AdmissionState): Admission {
  if (policy.groupPolicy === "disabled") return drop("group-disabled");
  const group = groupOf(policy, event.peer.id, state.isCaseSensitive);
  if (group?.enabled === false) return drop("group-disabled");
  if (policy.groupPolicy === "allowlist" && !group) return drop("group-not-listed");
  const senders = group?.allowFrom ?? policy.groupAllowFrom;
  if (senders && !matchesSender(senders, event.sender, { ...policy, ...state })) return drop("sender-not-allowed");
  const commands = state.isCommand && mayCommand([...(senders ?? []), ...policy.allowFrom], event, policy, state);
  if ((group?.requireMention ?? true) && !commands && state.mention() === "no") return drop("not-mentioned");
  if (state.isCommand && !commands) return drop("command-not-allowed");
  return { next: "run", setsRoute: true };
}

/** A command changes a conversation of several people: only those may give it whom a list names, not everybody whom it lets in. */
function mayCommand(list: readonly string[], { sender }: InboundEvent, policy: AccountPolicy, state: AdmissionState): boolean {
  const named = list.filter((entry) => entry.trim() !== "*");
  return state.isOwner || (!state.isForOwners && matchesSender(named, sender, { ...policy, ...state }));
}

/** With one owner on the list the last route is theirs: a message of somebody else must not lead their reminders away. */
function hasOneOwner(allowFrom: readonly string[]): boolean {
  return allowFrom.length === 1 && allowFrom[0] !== "*";
}

/** True when a list names the sender: by the id that nobody else can take on, by the name only where the operator accepts that it may change hands. */
export function matchesSender(
  list: readonly string[],
  { id, name }: Pick<InboundEvent["sender"], "id" | "name">,
  { matchesNames, isCaseSensitive }: { matchesNames: boolean; isCaseSensitive: boolean },
): boolean {
  const fold = (text: string) => (isCaseSensitive ? text.trim() : text.trim().toLowerCase());
  const wanted = new Set([fold(id), ...(matchesNames && name !== undefined ? [fold(name)] : [])]);
  return list.some((entry) => entry === "*" || wanted.has(fold(entry)));
}

function drop(reason: DropReason): Admission {
  return { next: "drop", reason };
}
