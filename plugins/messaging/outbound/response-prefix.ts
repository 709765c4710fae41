import type { SvcConfig } from "svc/sdk";

/** Puts `messages.responsePrefix` before an answer; a heading, list or fence begins on a line of its own. */
export function withPrefix(text: string, { messages: { responsePrefix } }: Pick<SvcConfig, "messages">): string {
  if (responsePrefix === undefined) return text;
  if (/^(?:#|>|\||```|~~~|[-*+] |\d{1,9}[.)] )/.test(text)) return `${responsePrefix.trimEnd()}\n${text}`;
  return /\s$/.test(responsePrefix) ? responsePrefix + text : `${responsePrefix} ${text}`;
}
