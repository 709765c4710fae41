/** Token of an agent whose check found nothing. */
const ACK_TOKEN = "HEARTBEAT_OK";
const SILENT_TOKENS = [ACK_TOKEN, "NO_REPLY"];

/** Emphasis, code marks, tags and blanks that a model puts around a token. */
const wrapping = /^(?:\s|[*_`~]|<\/?[a-z][^<>]{0,40}>)+/i;
const trailingWrap = /(?:[*_`~]|<\/?[a-z][^<>]{0,40}>)$/i;
const punctuation = /^[.!,;:–—-]{0,3}/;
/** Longest run of wrapping around a token that is looked through, in characters. */
export const MAX_WRAP_CHARS = 64;

/** Interpretation of an answer that may be an acknowledgement. `silent`: the agent asked for silence. */
export type Reply =
  | { kind: "empty"; silent: boolean }
  /** Nothing needs attention; what stands beside the token is short enough to be left out. */
  | { kind: "ack"; rest: string }
  | { kind: "news"; text: string };

/**
 * Reads the answer to a heartbeat, or one that is to be delivered: the token is taken off at either end; in the middle it is ordinary text.
 *
 * @param ackMaxChars maximum length of the text beside the token that does not count as news, in characters
 */
export function judgeReply(text: string, ackMaxChars: number): Reply {
  if (isSilent(text, "NO_REPLY")) return { kind: "empty", silent: true };
  const { rest, found } = stripAck(text);
  if (found && rest.length <= ackMaxChars) return { kind: "ack", rest };
  return rest === "" ? { kind: "empty", silent: false } : { kind: "news", text: rest };
}

/** True for an answer that is nothing but a token of silence (`HEARTBEAT_OK`, `NO_REPLY`), wrapped in marks or tags or not. */
export function isBareToken(text: string): boolean {
  return SILENT_TOKENS.some((token) => isSilent(text, token));
}

/** Takes `HEARTBEAT_OK` off both ends; `found`: it stood there. What remains without a letter or digit counts as nothing. */
export function stripAck(text: string): { rest: string; found: boolean } {
  let rest = text.trim();
  let found = false;
  for (let next = stripOnce(rest); next !== undefined; next = stripOnce(rest)) {
    rest = next.trim();
    found = true;
  }
  return { rest: found && !/[\p{L}\p{N}]/u.test(rest) ? "" : rest, found };
}

function stripOnce(text: string): string | undefined {
  return stripLeadingAck(text) ?? stripEnd(text);
}

/** The text behind a token at its start, once; undefined when there is none. */
export function stripLeadingAck(text: string): string | undefined {
  const lead = wrapping.exec(text)?.[0].length ?? 0;
  if (!isTokenAt(text, lead)) return undefined;
  const after = text.slice(lead + ACK_TOKEN.length);
  const marks = /^(?:[*_`~]|<\/?[a-z][^<>]{0,40}>)+/i.exec(after)?.[0].length ?? 0;
  return after.slice(marks).replace(punctuation, "");
}

function stripEnd(text: string): string | undefined {
  const at = text.lastIndexOf(ACK_TOKEN);
  if (at < 0 || !isTokenAt(text, at)) return undefined;
  const after = text.slice(at + ACK_TOKEN.length);
  if (after.replace(wrapping, "").replace(punctuation, "").replace(wrapping, "") !== "") return undefined;
  let before = text.slice(0, at);
  for (let mark = trailingWrap.exec(before.slice(-MAX_WRAP_CHARS)); mark; mark = trailingWrap.exec(before.slice(-MAX_WRAP_CHARS)))
    before = before.slice(0, -mark[0].length);
  return before;
}

/** A token stands alone: `HEARTBEAT_OKAY` is none. */
function isTokenAt(text: string, at: number): boolean {
  if (!text.startsWith(ACK_TOKEN, at)) return false;
  return !/[\p{L}\p{N}]_?$/u.test(text.slice(Math.max(0, at - 2), at)) && !/^_?[\p{L}\p{N}]/u.test(text.slice(at + ACK_TOKEN.length));
}

function isSilent(text: string, token: string): boolean {
  const bare = text.trim().replace(wrapping, "");
  if (!bare.startsWith(token)) return false;
  return bare.slice(token.length).replace(wrapping, "").replace(punctuation, "").replace(wrapping, "") === "";
}

/** True while a text may still turn out to be a token of silence and nothing else: its first characters, perhaps wrapped. */
export function mayBecomeToken(text: string): boolean {
  if (text.length > MAX_WRAP_CHARS) return false;
  // A tag that is not closed yet may stand on either side of a token.
  const closed = text.replace(/<\/?(?:[a-z][^<>]*)?$/i, "");
  const bare = closed.trimStart().replace(wrapping, "");
  return bare === "" || SILENT_TOKENS.some((token) => token.startsWith(bare)) || isBareToken(closed);
}
