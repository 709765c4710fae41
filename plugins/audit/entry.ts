import { createHash } from "node:crypto";

/** Author of an act. */
export interface Actor {
  kind: "operator" | "agent" | "gateway";
  /** Identity, device or client of an operator; id of an agent. */
  id: string;
  /** Address of an operator. */
  remote?: string;
}

/** Plain facts about an act; never a text of a conversation, a value of the config or a secret. */
export type Details = Record<string, string | number | boolean>;

/** An act before it has a place in the log. */
export interface Draft {
  /** Milliseconds since the epoch. */
  at: number;
  /** `domain.verb`, such as `tool.called`, or the method that an operator called. */
  action: string;
  actor: Actor;
  target?: string;
  outcome: "ok" | "error";
  details?: Details;
}

/** One entry: its place, and a hash over itself and the one before it. */
export interface Entry extends Draft {
  seq: number;
  /** sha256, hexadecimal. */
  hash: string;
}

/** A place in the chain. */
export interface Link {
  seq: number;
  hash: string;
}

/** Link before the first entry. */
export const ROOT: Link = { seq: 0, hash: "0".repeat(64) };

/** Puts an act behind a link of the chain. */
export function chained(before: Link, draft: Draft): Entry {
  const seq = before.seq + 1;
  return { seq, ...draft, hash: hashOf(before.hash, { seq, ...draft }) };
}

/** Is the hash that of this entry behind this link? Its place is part of what is hashed. */
export function follows(before: Link, entry: Entry): boolean {
  const { hash, ...content } = entry;
  return hash === hashOf(before.hash, content);
}

function hashOf(previous: string, content: object): string {
  return createHash("sha256").update(previous).update(canonicalJson(content)).digest("hex");
}

/** JSON whose keys are in order at every depth: a copy that was stored and read again has the same. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
