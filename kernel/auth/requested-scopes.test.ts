import { expect, test } from "vitest";
import { narrowScopes } from "./requested-scopes.ts";

const granted = ["operator.read", "operator.write"] as const;

test.each([
  ["none", undefined, ["operator.read", "operator.write"]],
  ["none", "operator.read", ["operator.read"]],
  ["none", " operator.write , operator.read ", ["operator.read", "operator.write"]],
  ["trusted-proxy", "operator.write", ["operator.write"]],
  ["trusted-proxy", "operator.admin", []],
  ["trusted-proxy", "OPERATOR.READ, operator.*", []],
  ["trusted-proxy", "", []],
  ["token", "operator.read", ["operator.read", "operator.write"]],
  ["password", "", ["operator.read", "operator.write"]],
] as const)("with mode %s and x-svc-scopes %j a caller has %j", (mode, header, scopes) => {
  expect(narrowScopes(granted, header, mode)).toEqual(scopes);
});
