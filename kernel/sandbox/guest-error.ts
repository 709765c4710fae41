import { messageOf, type SvcError } from "../../sdk/errors.ts";
import { sandboxErrors } from "./errors.ts";
import { type GuestError, INVALID_INPUT } from "./messages.ts";

/** An error as it may leave the code that threw it. */
export function describe(error: unknown, root: string | undefined): GuestError {
  const { code, stack } = (error ?? {}) as { code?: unknown; stack?: unknown };
  const place = root === undefined ? undefined : placeOf(String(stack ?? ""), root);
  return {
    message: messageOf(error).split("\n", 1)[0] as string,
    ...(typeof code === "string" ? { code } : {}),
    ...(place ? { place } : {}),
    ...(typeof stack === "string" ? { stack: stack.slice(0, 4_000) } : {}),
  };
}

/** `helper.ts:3:9`: the first place of a stack, or of a syntax error's text, below the guest's own folder. */
function placeOf(stack: string, root: string): string | undefined {
  for (const part of stack.split(root).slice(1)) {
    const found = /^[/\\]*([^\s()'"/\\][^\s()'"]*:\d+:\d+)/.exec(part);
    if (found) return found[1];
  }
  return undefined;
}

/** Converts a guest's error to the error for the caller: the guest's message, shortened, with its place. */
export function toSandboxError(name: string, what: string, error: GuestError): SvcError {
  const place = error?.place ? ` (${error.place})` : "";
  const reason = `${what === "" ? "" : `${what}: `}${String(error?.message ?? "failed").slice(0, 500)}${place}`;
  if (error?.code === INVALID_INPUT) return sandboxErrors.sandboxInvalidInput({ name, reason });
  return sandboxErrors.sandboxFailed({
    name,
    reason,
    ...(error?.code ? { code: error.code } : {}),
    ...(error?.place ? { place: error.place } : {}),
  });
}
