import type { SvcConfig } from "svc/sdk";

type Section = SvcConfig["channels"][string];
type Group = NonNullable<Section["groups"]>[string];

/** Rules by which an account takes messages on. */
export interface AccountPolicy {
  dmPolicy: "pairing" | "allowlist" | "open" | "disabled";
  /** Senders of direct messages, as configured; `*` is everybody. */
  allowFrom: readonly string[];
  groupPolicy: "allowlist" | "open" | "disabled";
  /** Senders in groups; undefined: whoever is in the group. */
  groupAllowFrom: readonly string[] | undefined;
  /** Groups by id; `*` stands for those that are not named. */
  groups: Readonly<Record<string, GroupPolicy>>;
  implicitMentions: { replyToBot: boolean; quotedBot: boolean; threadParticipation: boolean };
  matchesNames: boolean;
  /** Lines of a group that are kept between messages to the agent. */
  historyLimit: number;
}

export interface GroupPolicy {
  enabled: boolean;
  requireMention: boolean;
  allowFrom: readonly string[] | undefined;
  systemPrompt: string | undefined;
  /** Tools of runs that a message in the group begins. */
  tools: { allow?: readonly string[]; deny?: readonly string[] } | undefined;
}

/** The rules in force for an account: its own keys, else those of its channel, else `channels.defaults`. Pure. */
export function policyOf({ channels }: SvcConfig, channel: string, accountId: string): AccountPolicy {
  const section: Partial<Section> = channels[channel] ?? {};
  const own: Partial<Section> = section.accounts?.[accountId] ?? {};
  const mentions = { ...section.implicitMentions, ...own.implicitMentions };
  return {
    dmPolicy: own.dmPolicy ?? section.dmPolicy ?? channels.defaults.dmPolicy,
    allowFrom: own.allowFrom ?? section.allowFrom ?? [],
    groupPolicy: own.groupPolicy ?? section.groupPolicy ?? channels.defaults.groupPolicy,
    groupAllowFrom: own.groupAllowFrom ?? section.groupAllowFrom ?? own.allowFrom ?? section.allowFrom,
    // The account's own stand first: written in another case they are the same group, and the first one found holds.
    groups: groupsOf({ ...own.groups, ...section.groups, ...own.groups }),
    implicitMentions: {
      replyToBot: mentions.replyToBot ?? true,
      quotedBot: mentions.quotedBot ?? true,
      threadParticipation: mentions.threadParticipation ?? true,
    },
    matchesNames: own.dangerouslyAllowNameMatching ?? section.dangerouslyAllowNameMatching ?? false,
    historyLimit: own.historyLimit ?? section.historyLimit ?? channels.defaults.historyLimit,
  };
}

/** A group inherits from `*` what it does not say itself. */
function groupsOf(groups: Readonly<Record<string, Group>>): Record<string, GroupPolicy> {
  const base = groups["*"];
  return Object.fromEntries(
    Object.entries(groups).map(([id, group]) => [
      id,
      {
        enabled: group.enabled ?? base?.enabled ?? true,
        requireMention: group.requireMention ?? base?.requireMention ?? true,
        allowFrom: group.allowFrom ?? base?.allowFrom,
        systemPrompt: group.systemPrompt ?? base?.systemPrompt,
        tools: toolsOf(group.tools ?? base?.tools),
      },
    ]),
  );
}

function toolsOf(tools: Group["tools"]): GroupPolicy["tools"] {
  if (!tools) return undefined;
  const { allow, deny } = tools;
  return { ...(allow === undefined ? {} : { allow }), ...(deny === undefined ? {} : { deny }) };
}

/** The rules of one group: its own entry, that of `*`, or undefined for a group that is not listed. */
export function groupOf({ groups }: AccountPolicy, id: string, isCaseSensitive: boolean): GroupPolicy | undefined {
  const wanted = isCaseSensitive ? id : id.toLowerCase();
  const named = Object.keys(groups).find((key) => key !== "*" && (isCaseSensitive ? key : key.toLowerCase()) === wanted);
  return groups[named ?? "*"];
}
