/** Prefix of a group's id as a target. */
export const GROUP = "group:";

/** Phone number in the international form (E.164). */
const number = /^\+[1-9]\d{5,14}$/;
/** Account id of a person (ACI), which stays when the number changes. */
const aci = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Id of a group: 32 bytes of group keys, or 16 of old groups, in base64. */
const group = /^[A-Za-z0-9+/]{22,43}={1,2}$/;
/** User name with its discriminator, as the daemon takes it. */
const username = /^u:[A-Za-z_][A-Za-z0-9_]{2,31}\.\d{2,9}$/;

/** Returns a target in its one form; null when it is none. Numbers may be written with blanks, dashes and brackets. */
export function normalizeTarget(raw: string): string | null {
  if (raw.length > 200) return null;
  const text = raw.trim().replace(/^signal:/i, "");
  if (text.toLowerCase().startsWith(GROUP)) {
    const id = text.slice(GROUP.length);
    return group.test(id) ? `${GROUP}${id}` : null;
  }
  if (username.test(text)) return text;
  if (aci.test(text.toLowerCase())) return text.toLowerCase();
  const digits = text.replace(/[ ()./-]/g, "");
  return number.test(digits) ? digits : null;
}

/** True for a phone number or an account id. */
export function isPersonId(text: string): boolean {
  return number.test(text) || aci.test(text);
}

/** Returns the parameter by which the daemon's commands name a target. */
export function recipientOf(target: string): { groupId: string[] } | { username: string[] } | { recipient: string[] } {
  if (target.startsWith(GROUP)) return { groupId: [target.slice(GROUP.length)] };
  if (target.startsWith("u:")) return { username: [target.slice(2)] };
  return { recipient: [target] };
}

/** Id of a message: who wrote it and when, which is what Signal itself goes by. */
export function messageIdOf(author: string, timestamp: number): string {
  return `${author}/${timestamp}`;
}

/** Takes an id of `messageIdOf` apart; undefined for anything else. */
export function parseMessageId(id: string): { author: string; timestamp: number } | undefined {
  const at = id.lastIndexOf("/");
  const [author, timestamp] = [id.slice(0, at), Number(id.slice(at + 1))];
  return at > 0 && isPersonId(author) && Number.isSafeInteger(timestamp) && timestamp > 0 ? { author, timestamp } : undefined;
}
