import type { OperatorScope } from "../types/rpc.ts";

export const allScopes: readonly OperatorScope[] = [
  "operator.admin",
  "operator.approvals",
  "operator.pairing",
  "operator.read",
  "operator.write",
];

/** Scopes a held scope stands for: admin is everything, write includes read. */
export function hasScope(held: readonly string[], needed: OperatorScope): boolean {
  if (held.includes("operator.admin") || held.includes(needed)) return true;
  return needed === "operator.read" && held.includes("operator.write");
}
