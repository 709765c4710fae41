import type { ApprovalQuestion, ApprovalRecord } from "svc/sdk";

/** What cannot be seen, or turns the direction of text: controls, soft hyphen, zero-width and bidirectional marks, line separators, fillers, tags. */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are made visible
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffc]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

/** Text as a person must see it before deciding: what is hidden in it stands there by its number. */
export function visible(text: string): string {
  return text.replace(invisible, (hidden) => `\\u{${(hidden.codePointAt(0) as number).toString(16)}}`);
}

/** A question in the words that are shown, with the answers it offers. */
export function shownRequest({ kind, request }: ApprovalQuestion): ApprovalRecord["request"] {
  if (kind === "exec") {
    const argv = request.commandArgv?.map(visible);
    const command = visible(request.command ?? commandLine(request.commandArgv ?? []));
    // Without a list of its own the asker has nowhere to keep an "always".
    const allowedDecisions = request.ask === "on-miss" ? (["allow-once", "allow-always", "deny"] as const) : (["allow-once", "deny"] as const);
    return { ...request, command, ...(argv ? { commandArgv: argv } : {}), allowedDecisions };
  }
  const { title, description, allowedDecisions = ["allow-once"] } = request;
  const offered = [...new Set([...allowedDecisions, "deny" as const])];
  return { ...request, title: visible(title), description: visible(description), allowedDecisions: offered };
}

/** Arguments as they would be typed: those with other than plain characters in quotes. */
function commandLine(argv: readonly string[]): string {
  return argv.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(" ");
}
