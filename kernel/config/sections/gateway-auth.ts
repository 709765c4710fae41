import { z } from "zod";
import { durationMs } from "../../../sdk/config/amounts.ts";
import { defaulted, secret } from "../../../sdk/config/fields.ts";
import { allScopes } from "../../../sdk/internal/scopes.ts";

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected the name of an HTTP header");

const trustedProxy = z
  .strictObject({
    userHeader: headerName.optional().describe("Header in which the proxy names the user"),
    requiredHeaders: z.array(headerName).default([]).describe("Headers that must not be blank"),
    allowUsers: z.array(z.string().min(1)).default([]).describe("Users that are allowed; empty: every user the proxy names"),
    allowLoopback: z.boolean().default(false).describe("The proxy may run on this machine; it must be listed all the same"),
    scopes: z
      .array(z.enum(allScopes))
      .default([...allScopes])
      .describe("Maximum scopes of such a caller"),
  })
  .meta({ reload: "hot" });

const rateLimit = z
  .strictObject({
    maxAttempts: z.number().int().min(1).max(1000).default(10).describe("Failed attempts of one address before it is locked out"),
    windowMs: defaulted(durationMs(1000, 3_600_000), 60_000, "1m").describe("Window in which failed attempts are counted"),
    lockoutMs: defaulted(durationMs(1000, 86_400_000), 300_000, "5m").describe("Length of the lockout"),
    exemptLoopback: z
      .boolean()
      .default(false)
      .describe("Never lock this machine out; otherwise one attempt per second from it is still checked during a lockout"),
  })
  .meta({ reload: "hot" });

/** `gateway.auth.*`: who may use the port. */
export const gatewayAuthSchema = z.strictObject({
  mode: z
    .enum(["token", "password", "trusted-proxy", "none"])
    .optional()
    .describe("How callers authenticate; unset: `password` if only a password is set, else `token`; `none` only on loopback"),
  token: secret()
    .optional()
    .meta({ reload: "hot" })
    .describe("Shared secret of mode `token`; a new one closes connections that used the old"),
  password: secret()
    .optional()
    .meta({ reload: "hot" })
    .describe("Shared secret of mode `password`; a new one closes connections that used the old"),
  trustedProxy: trustedProxy.prefault({}),
  rateLimit: rateLimit.prefault({}),
  allowTailscale: z
    .boolean()
    .optional()
    .meta({ reload: "hot" })
    .describe(
      "Accept verified tailnet identities for WebSocket and control UI, never for the HTTP APIs; unset: true with `tailscale.mode` `serve`",
    ),
});
