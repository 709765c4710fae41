import { formatSource, parseSource, type Source } from "./line.ts";

/** Which characters of a name are the same: `CASEMAPPING` of the server. */
export type CaseMapping = "rfc1459" | "strict-rfc1459" | "ascii";

/** Last capital letter of each mapping: the letters from `A` on have their small ones 32 places further. */
const lastCapital: Readonly<Record<CaseMapping, number>> = { rfc1459: 0x5e, "strict-rfc1459": 0x5d, ascii: 0x5a };

/** Name in the letters by which it is compared: of two that the server takes for one, only one form is left. */
export function foldName(name: string, mapping: CaseMapping): string {
  const last = lastCapital[mapping];
  let folded = "";
  for (let i = 0; i < name.length; i += 1) {
    const code = name.charCodeAt(i);
    folded += code >= 0x41 && code <= last ? String.fromCharCode(code + 32) : name[i];
  }
  return folded;
}

/** Mapping that a server names: the RFC's where it names none; of one that nobody defines only the letters are sure. */
export function caseMappingOf(value = "rfc1459"): CaseMapping {
  return value === "rfc1459" || value === "strict-rfc1459" ? value : "ascii";
}

/** Characters that names of rooms begin with, where the server does not say. */
export const ROOM_TYPES = "#&+";

/** True for the name of a room. */
export function isRoom(name: string, types = ROOM_TYPES): boolean {
  return name.length > 1 && types.includes(name[0] as string);
}

/** Stable id of a sender: the services account, or else who the server says it is. A nick alone belongs to whoever takes it. */
export function senderId(source: Source, account: string | undefined, mapping: CaseMapping): string {
  if (account !== undefined) return account.toLowerCase();
  return formatSource({
    nick: foldName(source.nick, mapping),
    user: (source.user ?? "").toLowerCase(),
    host: (source.host ?? "").toLowerCase(),
  });
}

/** Names that go into a line as one word; `,` lists targets. */
const oneWord = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s,]{1,200}$/u;
/** Marks of masks. In the name of a room they are letters like others. */
const isPlainWord = (text: string) => oneWord.test(text) && !/[*?]/.test(text);

/**
 * Target of a message: a room, a nick, an account, or `nick!user@host`; in small letters (A to Z: of others no server is known to take two for one), without the prefix `irc:`. Null for anything else, a mask of
 * servers among them (`$*.net`).
 */
export function normalizeTarget(raw: string): string | null {
  const target = raw
    .trim()
    .replace(/^irc:/i, "")
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (ROOM_TYPES.includes(target[0] as string)) return isRoom(target) && oneWord.test(target) ? target : null;
  if (!isPlainWord(target) || /^[:$@]/.test(target)) return null;
  const { nick, user, host } = parseSource(target);
  const isMask = user !== undefined && user !== "" && host !== undefined && host !== "";
  return (isMask || nick === target) && !/[!@:]/.test(nick) ? target : null;
}

/** True for a text that may be a nick: one word that no server takes for a room, a mask or a source. */
export function isNick(text: string): boolean {
  return isPlainWord(text) && !isRoom(text) && !/^[\d:$-]|[!@:]/.test(text);
}
