/** Longest name that is kept of a client and shown to others, in UTF-16 units. */
export const MAX_SHOWN_CHARS = 256;

/** Controls, line ends, halves of pairs, and what turns the direction of text. */
const misleading = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Cleans a client's name or platform for display: one line of at most 256 characters without anything that moves a
 * cursor or turns text around. An approver decides by it, lists are full of it, and it comes from whoever connects.
 */
export function shownName(name: string): string {
  return name.slice(0, MAX_SHOWN_CHARS).replace(misleading, " ").trim();
}
