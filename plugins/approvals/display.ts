import type { ApprovalQuestion, ApprovalRecord } from "svc/sdk";

/** Characters that cannot be seen or that turn the direction of text: controls, format marks, lone surrogates, line separators, fillers, selectors, tags. */
const invisible = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/** Text as a person must see it before deciding: what is hidden in it stands there by its number. */
export function visible(text: string): string {
  return text.replace(invisible, (hidden) => `\\u{${(hidden.codePointAt(0) as number).toString(16)}}`);
}

/** A question in the words that are shown, all of them visible, with the answers it offers. */
export function shownRequest({ kind, request }: ApprovalQuestion): ApprovalRecord["request"] {
  if (kind === "exec") {
    // Given as arguments, these are what would be run: the line is made of them, whatever text came along.
    const command = request.commandArgv ? commandLine(request.commandArgv) : (request.command ?? "");
    // Without a list of its own the asker has nowhere to keep an "always".
    const allowedDecisions =
      request.ask === "on-miss" ? (["allow-once", "allow-always", "deny"] as const) : (["allow-once", "deny"] as const);
    return { ...allVisible({ ...request, command }), allowedDecisions };
  }
  const { allowedDecisions = ["allow-once"] } = request;
  const offered = [...new Set([...allowedDecisions, "deny" as const])];
  return { ...allVisible(request), allowedDecisions: offered };
}

/** Every text of a request; a folder or a tool with a hidden mark in its name would be another one than it seems. */
function allVisible<T extends object>(request: T): T {
  const shown = (value: unknown): unknown => (typeof value === "string" ? visible(value) : Array.isArray(value) ? value.map(shown) : value);
  return Object.fromEntries(Object.entries(request).map(([key, value]) => [key, shown(value)])) as T;
}

/** Arguments as they would be typed: those with other than plain characters in quotes. */
function commandLine(argv: readonly string[]): string {
  return argv.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(" ");
}
