import type { ClientInfo } from "../../types/rpc.ts";
import { type Audience, standingOf, topicFor } from "./audience.ts";

/** A receiver in its group. */
export interface Member {
  readonly info: ClientInfo;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  leave(): void;
}

interface Group<M> {
  info: ClientInfo;
  members: Set<M>;
  byTopic: Map<string, Set<M>>;
}

/** Receivers by their rights: who may have an event is decided once for all that are alike, and subscribers are found without asking the others. */
export function createGroups<T extends object>() {
  type Own = T & Member;
  const groups = new Map<string, Group<Own>>();
  let size = 0;

  return {
    size: () => size,
    *all(): Iterable<Own> {
      for (const group of groups.values()) yield* group.members;
    },
    /** The receivers of an audience: whole sets, one per group, to be walked in the same turn. */
    select(audience: Audience): Array<ReadonlySet<Own>> {
      const found: Array<ReadonlySet<Own>> = [];
      for (const { info, members, byTopic } of groups.values()) {
        const topic = topicFor(audience, info);
        if (topic === false) continue;
        const chosen = topic === undefined ? members : byTopic.get(topic);
        if (chosen) found.push(chosen);
      }
      return found;
    },
    /** Gives what stands for a receiver its place, and the ways to move in it. */
    enter(info: ClientInfo, own: T): Own {
      const standing = standingOf(info);
      const group: Group<Own> = groups.get(standing) ?? { info, members: new Set(), byTopic: new Map() };
      groups.set(standing, group);
      const topics = new Set<string>();
      const unsubscribe = (topic: string) => {
        topics.delete(topic);
        const members = group.byTopic.get(topic);
        members?.delete(member);
        if (members?.size === 0) group.byTopic.delete(topic);
      };
      const member: Own = Object.assign(own, {
        info,
        subscribe(topic: string) {
          if (!group.members.has(member)) return;
          topics.add(topic);
          group.byTopic.set(topic, (group.byTopic.get(topic) ?? new Set<Own>()).add(member));
        },
        unsubscribe,
        leave() {
          if (!group.members.delete(member)) return;
          size -= 1;
          for (const topic of [...topics]) unsubscribe(topic);
          if (group.members.size === 0) groups.delete(standing);
        },
      });
      group.members.add(member);
      size += 1;
      return member;
    },
  };
}
