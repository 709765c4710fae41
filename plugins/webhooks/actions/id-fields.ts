import { toIdText, toWellFormed } from "svc/sdk/internal";

/** Fields that become ids. */
const idFields = ["sessionKey", "to"] as const;
type IdField = (typeof idFields)[number];

export function isIdField(name: string): name is IdField {
  return idFields.some((field) => field === name);
}

/**
 * An id that a template or a transform has made of a foreign payload: half a character in a title is no reason to lose the event. Control characters in a
 * session key are left in it, and refused later on: they would let a payload choose the session.
 */
export function toIdField(name: IdField, text: string): string {
  return name === "to" ? toIdText(text) : toWellFormed(text);
}
