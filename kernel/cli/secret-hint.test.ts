import { expect, it } from "vitest";
import { secretHint } from "./secret-hint.ts";

it.each([
  ["AUTH_TOKEN_MISSING", { secretSource: "none" }, "no token was found; give --token, or set SVC_GATEWAY_TOKEN"],
  ["AUTH_PASSWORD_MISSING", { secretSource: "none" }, "no password was found; give --password, or set SVC_GATEWAY_PASSWORD"],
  [
    "AUTH_RATE_LIMITED",
    { secretSource: "none" },
    "no secret was found; give --token or --password, or set SVC_GATEWAY_TOKEN or SVC_GATEWAY_PASSWORD",
  ],
  [
    "AUTH_PASSWORD_MISMATCH",
    { token: "t", secretSource: "config" },
    "the gateway asks for a password, and a token was sent (from config); give --password",
  ],
  [
    "AUTH_TOKEN_MISMATCH",
    { password: "p", secretSource: "env" },
    "the gateway asks for a token, and a password was sent (from env); give --token",
  ],
  [
    "AUTH_PASSWORD_MISMATCH",
    { password: "p", secretSource: "flag" },
    "the secret came from flag; the gateway may have been started with another one",
  ],
  [
    "AUTH_PASSWORD_MISMATCH",
    { token: "t", secretSource: "runtime" },
    "the secret came from runtime; the gateway may have been started with another one",
  ],
  ["ORIGIN", { secretSource: "none" }, undefined],
] as const)("the hint at %s with %j fits the mode of the gateway", (detailCode, target, hint) => {
  const error = { code: "INVALID_REQUEST", detailCode, details: undefined };
  expect(secretHint(error, target)).toBe(hint);
});
