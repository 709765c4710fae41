/** What an agent says when a check found nothing. */
export const ACK_TOKEN = "HEARTBEAT_OK";
const SILENT_TOKENS = [ACK_TOKEN, "NO_REPLY"];

/** Emphasis, code marks, tags and blanks that a model puts around a token. */
const wrapping = /^(?:\s|[*_`~]|<\/?[a-z][^<>]{0,40}>)+/i;
const trailingWrap = /(?:[*_`~]|<\/?[a-z][^<>]{0,40}>)$/i;
const punctuation = /^[.!,;:–—-]{0,3}/;
/** Longest run of wrapping around a token that is looked through. */
const MAX_WRAP_CHARS = 64;

/** What is left of an answer to a heartbeat. */
export type Reply =
  | { kind: "empty"; silent: boolean }
  /** Nothing needs attention; what stands beside the token is short enough to be left out. */
  | { kind: "ack"; rest: string }
  | { kind: "news"; text: string };

/** Reads the answer to a heartbeat: the token is taken off at either end; in the middle it is ordinary text (`operations.md` 14). */
export function judgeReply(text: string, ackMaxChars: number): Reply {
  if (isSilent(text, "NO_REPLY")) return { kind: "empty", silent: true };
  const { rest, found } = stripAck(text);
  if (found && rest.length <= ackMaxChars) return { kind: "ack", rest };
  return rest === "" ? { kind: "empty", silent: false } : { kind: "news", text: rest };
}

/** True for an answer that is nothing but a silent token, wrapped or not. */
export function isBareToken(text: string): boolean {
  return SILENT_TOKENS.some((token) => isSilent(text, token));
}

/** Takes the token off both ends. What remains without a letter or digit counts as nothing. */
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
  return stripStart(text) ?? stripEnd(text);
}

function stripStart(text: string): string | undefined {
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

/**
 * What may be shown of an answer while it is still being written. Each result begins with the one before it, and the last one is what `judgeReply`
 * would leave: nobody sees the beginning of a token, or a text that is taken back.
 */
export interface ReplyFilter {
  /** @param text everything written so far */
  during(text: string): string;
  /** @param text the whole answer */
  end(text: string): string;
}

/** @param ackMaxChars of the heartbeat; undefined for an ordinary run, where only a bare token is dropped */
export function createReplyFilter(ackMaxChars: number | undefined): ReplyFilter {
  return ackMaxChars === undefined ? bareFilter() : heartbeatFilter(ackMaxChars);
}

function bareFilter(): ReplyFilter {
  let isShown = false;
  return {
    during(text) {
      isShown ||= !mayBecomeToken(text);
      return isShown ? text : "";
    },
    end: (text) => (isShown || !isBareToken(text) ? text : ""),
  };
}

function heartbeatFilter(ackMaxChars: number): ReplyFilter {
  const hold = ackMaxChars + MAX_WRAP_CHARS;
  let shown = "";
  return {
    during(text) {
      let whole = text.trimStart();
      for (let next = stripStart(whole); next !== undefined; next = stripStart(whole)) whole = next.trimStart();
      // Until it is longer than an acknowledgement may be, the token may still come at its end.
      if (whole.length > hold) shown = longer(shown, whole.slice(0, wholeEnd(whole, whole.length - MAX_WRAP_CHARS)));
      return shown;
    },
    end(text) {
      const reply = judgeReply(text, ackMaxChars);
      if (reply.kind !== "news") return shown;
      return longer(shown, reply.text);
    },
  };
}

/** The first characters of a token, perhaps wrapped, and nothing else. */
function mayBecomeToken(text: string): boolean {
  if (text.length > MAX_WRAP_CHARS) return false;
  const bare = text.trimStart().replace(wrapping, "");
  // A tag that is not closed yet may stand around a token as well.
  return bare === "" || /^<\/?(?:[a-z][^<>]*)?$/i.test(bare) || SILENT_TOKENS.some((token) => token.startsWith(bare)) || isBareToken(text);
}

function longer(shown: string, next: string): string {
  return next.startsWith(shown) ? next : shown;
}

/** A surrogate pair is never split. */
function wholeEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}
