import { isBareToken, judgeReply, MAX_WRAP_CHARS, mayBecomeToken, stripLeadingAck } from "svc/sdk/internal";

/**
 * Part of an answer that may be shown while it is still being written. Each result begins with the one before it, and the last one is what `judgeReply`
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
  let nextLook = 0;
  return {
    during(text) {
      // A look costs as much as there is text: the longer it is, the more must have come.
      if (text.length < nextLook) return shown;
      nextLook = text.length + Math.floor(text.length / 16);
      let whole = text.trimStart();
      for (let next = stripLeadingAck(whole); next !== undefined; next = stripLeadingAck(whole)) whole = next.trimStart();
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

function longer(shown: string, next: string): string {
  return next.startsWith(shown) ? next : shown;
}

/** A surrogate pair is never split. */
function wholeEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}
