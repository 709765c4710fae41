import type { ClientInfo } from "../../../sdk/types/rpc.ts";
import { type Audience, standingOf, topicFor } from "./audience.ts";

/** A receiver, as far as its place among others goes. */
export interface Member {
  readonly info: ClientInfo;
}

interface Group<M> {
  standing: string;
  info: ClientInfo;
  members: Set<M>;
  byTopic: Map<string, Set<M>>;
}

interface Place<M> {
  group: Group<M>;
  /** Made for the first one. */
  topics: Set<string> | undefined;
}

/** Receivers by their rights: who may have an event is decided once for all that are alike, and subscribers are found without asking the others. */
export interface Groups<M extends Member> {
  enter(member: M): void;
  leave(member: M): void;
  /** Does nothing for who is not in, or no more. */
  subscribe(member: M, topic: string): void;
  unsubscribe(member: M, topic: string): void;
  /** The receivers of an audience: whole sets, one per group, to be walked in the same turn. */
  select(audience: Audience): Array<ReadonlySet<M>>;
  all(): Iterable<M>;
  size(): number;
}

export function createGroups<M extends Member>(): Groups<M> {
  const groups = new Map<string, Group<M>>();
  const places = new Map<M, Place<M>>();
  const unsubscribe = (member: M, topic: string) => {
    const place = places.get(member);
    if (!place?.topics?.delete(topic)) return;
    const members = place.group.byTopic.get(topic);
    members?.delete(member);
    if (members?.size === 0) place.group.byTopic.delete(topic);
  };
  return {
    enter(member) {
      const standing = standingOf(member.info);
      const group = groups.get(standing) ?? { standing, info: member.info, members: new Set(), byTopic: new Map() };
      groups.set(standing, group);
      group.members.add(member);
      places.set(member, { group, topics: undefined });
    },
    leave(member) {
      const place = places.get(member);
      if (!place) return;
      for (const topic of [...(place.topics ?? [])]) unsubscribe(member, topic);
      places.delete(member);
      place.group.members.delete(member);
      if (place.group.members.size === 0) groups.delete(place.group.standing);
    },
    subscribe(member, topic) {
      const place = places.get(member);
      if (!place) return;
      place.topics ??= new Set();
      place.topics.add(topic);
      const { byTopic } = place.group;
      byTopic.set(topic, (byTopic.get(topic) ?? new Set<M>()).add(member));
    },
    unsubscribe,
    select(audience) {
      const found: Array<ReadonlySet<M>> = [];
      for (const { info, members, byTopic } of groups.values()) {
        const topic = topicFor(audience, info);
        if (topic === false) continue;
        const chosen = topic === undefined ? members : byTopic.get(topic);
        if (chosen) found.push(chosen);
      }
      return found;
    },
    all: () => places.keys(),
    size: () => places.size,
  };
}
