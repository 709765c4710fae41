import type { Fields } from "./fields.ts";
import type { Part } from "./frame.ts";
import type { KeyOrigin } from "./session-key.ts";

/** Action requested directly or by a mapping, before any rule was applied. */
export interface Draft {
  kind: "agent" | "wake";
  /** Below `hooks.path`. */
  path: string;
  /** Id of the mapping. */
  mapping?: string;
  fields: Fields;
  keyOrigin: KeyOrigin;
  /** False: the operator vouches for what this mapping brings. */
  isFramed: boolean;
  /** Made by the mail preset. */
  isMail: boolean;
  /** Pieces of a wake's text; unset: all of it came with the request. */
  parts?: readonly Part[];
  /** Name for the frame of a wake. */
  task?: string;
  /** Fields in which the time of the request stands, without it: a repeat is the same action. */
  timeless?: Fields;
}
