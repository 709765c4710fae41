import { z } from "zod";
import { pathText, secret } from "../../../sdk/config/fields.ts";
import { parseSshTarget } from "./ssh-target.ts";

const sshTarget = z
  .string()
  .refine((text) => parseSshTarget(text) !== undefined, 'expected "user@host", "host" or "user@host:port", not an option of ssh');

/** `gateway.remote.*`: the gateway elsewhere that commands on this host speak to in `gateway.mode: "remote"`. */
export const gatewayRemoteSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^(wss?|https?)$/, error: 'expected an address such as "wss://gateway.example"' })
      .optional()
      .describe(
        "Address of a gateway elsewhere, which commands on this host connect to with `gateway.mode` `remote`; with `ssh` as seen from the other end, unset: `ws://127.0.0.1:18789`",
      ),
    transport: z.enum(["direct", "ssh"]).default("direct").describe("Connect to the address, or through an SSH port forward"),
    token: secret().optional().describe("Token for it; `SVC_GATEWAY_TOKEN` is used without one, `gateway.auth.token` never"),
    password: secret().optional().describe("Password for it"),
    sshTarget: sshTarget.optional().describe("`user@host` of the port forward, or a name from the config of `ssh`"),
    sshIdentity: pathText().optional().describe("Key file of the port forward; unset: what `ssh` finds by itself"),
    tlsFingerprint: z
      .string()
      .regex(/^(sha256:)?([0-9a-f]{64}|([0-9a-f]{2}:){31}[0-9a-f]{2})$/i, "expected the SHA-256 fingerprint of a certificate")
      .optional()
      .describe("Only this certificate is accepted"),
  })
  .meta({ reload: "none" });
