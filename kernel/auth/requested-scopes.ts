import type { OperatorScope, Scope } from "../../sdk/types/rpc.ts";
import type { AuthMode } from "./resolve-auth.ts";

/**
 * Scopes of an HTTP caller: those granted, narrowed by `x-svc-scopes` where no secret proved a full operator. The header never adds
 * any, and with a shared secret it means nothing.
 *
 * @param header value of `x-svc-scopes`; absent: all that is granted
 */
export function narrowScopes(
  granted: readonly OperatorScope[],
  header: string | string[] | undefined,
  mode: AuthMode,
): readonly OperatorScope[] {
  if (header === undefined || (mode !== "none" && mode !== "trusted-proxy")) return granted;
  const asked = new Set(
    String(header)
      .split(",")
      .map((scope) => scope.trim()),
  );
  return granted.filter((scope) => asked.has(scope));
}

/** `read` → `operator.read`. */
export function toOperatorScope(scope: Scope): OperatorScope {
  return `operator.${scope}`;
}
