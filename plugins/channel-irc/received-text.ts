/** Text of a message as people read it, and how it was said. */
export interface ReceivedText {
  text: string;
  /** `action`: `/me waves`. `ctcp`: a request between clients, nothing that somebody said. */
  kind: "message" | "action" | "ctcp";
}

const CTCP = "\u0001";

/** Reads the text of a PRIVMSG: takes formatting off, and tells requests between clients from words. */
export function readText(raw: string): ReceivedText {
  if (!raw.startsWith(CTCP)) return { text: plainText(raw), kind: "message" };
  const body = raw.slice(1, raw.endsWith(CTCP) && raw.length > 1 ? -1 : undefined);
  const end = body.indexOf(" ");
  const word = (end < 0 ? body : body.slice(0, end)).toUpperCase();
  if (word !== "ACTION") return { text: "", kind: "ctcp" };
  return { text: plainText(end < 0 ? "" : body.slice(end + 1)), kind: "action" };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes
const colours = /\u0003(?:\d{1,2}(?:,\d{1,2})?)?|\u0004(?:[\dA-Fa-f]{6}(?:,[\dA-Fa-f]{6})?)?/g;
/** Everything else that controls a terminal; a tab is layout. */
const controls = /(?!\t)\p{Cc}/gu;

/** Takes colours, bold and the like off, and every other control character. */
export function plainText(text: string): string {
  return text.replace(colours, "").replace(controls, "");
}
