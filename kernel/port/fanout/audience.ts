import { hasScope } from "../../../sdk/internal/scopes.ts";
import { type EventSpec, protocolEvents } from "../../../sdk/protocol/events.ts";
import type { ClientInfo, OperatorScope, Scope } from "../../../sdk/types/rpc.ts";
import { toOperatorScope } from "../../auth/requested-scopes.ts";

/** Decides who may have an event, once for all receivers of equal standing. */
export interface Audience {
  /** Each of these must be held. */
  readonly needs: readonly OperatorScope[];
  /** Subscribers of this topic only. */
  readonly topic: string | undefined;
  /** The topic a node has to subscribe to, where an operator need not. */
  readonly nodeTopic: string | undefined;
}

/** The row of an event that the gateway itself sends; names of the language itself are none. */
export function coreEventSpec(name: string): EventSpec | undefined {
  return Object.hasOwn(protocolEvents, name) ? (protocolEvents as Record<string, EventSpec>)[name] : undefined;
}

/**
 * The audience of one event. A row of the table can be narrowed, never widened; an event of a plugin has the scope it declares, else `write`;
 * whatever is listed nowhere is for administrators.
 *
 * @param spec row of the event, if the protocol has one
 */
export function audienceOf(
  name: string,
  spec: EventSpec | undefined,
  narrowed: { scope?: Scope | undefined; topic?: string | undefined },
): Audience {
  const isWhole = spec !== undefined && narrowed.scope === undefined && narrowed.topic === undefined;
  const known = isWhole ? wholeAudiences.get(spec) : undefined;
  if (known) return known;
  const audience = makeAudience(name, spec, narrowed);
  if (isWhole) wholeAudiences.set(spec, audience);
  return audience;
}

/** Audiences of events that are not narrowed, by their rows. */
const wholeAudiences = new WeakMap<EventSpec, Audience>();

function makeAudience(
  name: string,
  spec: EventSpec | undefined,
  { scope, topic }: { scope?: Scope | undefined; topic?: string | undefined },
): Audience {
  const own = spec ? spec.scope : name.startsWith("plugin.") ? (scope ?? "write") : "admin";
  const needs = [...new Set([own, scope ?? own])].filter((s) => s !== "none").map(toOperatorScope);
  return { needs, topic, nodeTopic: spec?.nodes === "subscribed" ? name : undefined };
}

/** Receivers of one standing get the same answer to every audience. */
export function standingOf({ role, scopes }: Pick<ClientInfo, "role" | "scopes">): string {
  return `${role} ${[...scopes].sort().join(" ")}`;
}

/** The topic that receivers of a standing must have subscribed to; `undefined`: all of them, `false`: none of them. */
export function topicFor({ needs, topic, nodeTopic }: Audience, who: Pick<ClientInfo, "role" | "scopes">): string | undefined | false {
  if (!needs.every((scope) => hasScope(who.scopes, scope))) return false;
  return topic ?? (who.role === "node" ? nodeTopic : undefined);
}
