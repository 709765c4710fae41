import type { ApprovalQuestion, ApprovalRecord } from "svc/sdk";

/** What cannot be seen, or turns the direction of text: controls, marks of format, halves of pairs, line separators, fillers, selectors, tags. */
const invisible = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

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
    const allowedDecisions =
      request.ask === "on-miss" ? (["allow-once", "allow-always", "deny"] as const) : (["allow-once", "deny"] as const);
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
