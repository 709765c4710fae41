import { isIP } from "node:net";
import { z } from "zod";
import { duration, durationMs } from "../../../sdk/config/amounts.ts";
import { defaulted, documented, pathText } from "../../../sdk/config/fields.ts";
import { gatewayAuthSchema } from "./gateway-auth.ts";
import { gatewayHttpSchema } from "./gateway-http.ts";
import { gatewayRemoteSchema } from "./gateway-remote.ts";

/** An address or a range of addresses: `10.0.0.0/8`, `::1`. */
export const addressRange = () => z.string().refine(isAddressRange, { error: 'expected an IP address or a range such as "10.0.0.0/8"' });

function isAddressRange(text: string): boolean {
  const [address, bits, ...rest] = text.split("/");
  const version = isIP(address ?? "");
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const origin = z
  .string()
  .regex(/^(\*|[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+)$/i, 'expected an origin such as "https://ui.example", without a path, or "*" for all');

const controlUi = z.strictObject({
  enabled: z.boolean().default(true).describe("Serve the control UI"),
  basePath: z
    .string()
    .regex(/^\/([\w.-]+(\/[\w.-]+)*)?$/, 'expected an absolute path without a trailing slash, such as "/" or "/ui"')
    .default("/")
    .describe("Path of the control UI"),
  root: pathText().optional().describe("Folder of its files; unset: the bundled ones"),
  allowedOrigins: z
    .array(origin)
    .optional()
    .meta({ reload: "hot" })
    .describe(
      "Origins of pages that may use the gateway, `*` for any; their host names are served on a loopback bind too; unset and not bound to loopback: the local ones with the port in use",
    ),
  dangerouslyAllowHostHeaderOriginFallback: z
    .boolean()
    .default(false)
    .meta({ reload: "hot" })
    .describe("Also allow the origin that the request's own `Host` names; any name that resolves to this host passes then"),
});

const reload = z
  .strictObject({
    mode: z.enum(["off", "hot", "restart", "hybrid"]).default("hybrid").describe("What a change of the file does"),
    debounceMs: defaulted(durationMs(0, 60_000), 300).describe("Quiet time before a changed file is read"),
    deferralTimeoutMs: defaulted(durationMs(0, 86_400_000), 300_000, "5m").describe("How long a restart waits for active runs"),
  })
  .meta({ reload: "none" });

const hot = { reload: "hot" } as const;

/** `gateway.*`: the port, who may use it, how it follows changes and how it stops. What is not marked otherwise needs a restart. */
export const gatewaySchema = z
  .strictObject({
    mode: z.enum(["local", "remote"]).optional().describe("`local`: a gateway may run here; `remote`: this host is only a client"),
    port: documented(z.number().int().min(1).max(65535), 18_789).describe(
      "Port; a flag and `SVC_GATEWAY_PORT` win; 19001 in the profile `dev`",
    ),
    bind: documented(z.enum(["loopback", "lan", "tailnet", "auto", "custom"]), "loopback").describe("Addresses to listen on"),
    customBindHost: z
      .ipv4({ error: 'expected an IPv4 address of this machine such as "10.0.0.7"' })
      .optional()
      .describe("Address for bind `custom`"),
    publicOrigin: z
      .string()
      .regex(/^https:\/\/[^/?#\s@]+$/, 'expected an https origin such as "https://gateway.example", without a path')
      .optional()
      .meta(hot)
      .describe("Address under which others reach the gateway, for links; its host name is served on a loopback bind too"),
    auth: gatewayAuthSchema.prefault({}),
    trustedProxies: z
      .array(addressRange())
      .default([])
      .meta(hot)
      .describe("Proxies whose forwarding headers are trusted to name the client"),
    allowRealIpFallback: z.boolean().default(false).meta(hot).describe("Use `X-Real-IP` when `X-Forwarded-For` is missing"),
    controlUi: controlUi.prefault({}),
    http: gatewayHttpSchema.prefault({}),
    tools: z
      .strictObject({
        allow: z
          .array(z.string().min(1))
          .default([])
          .describe("Tools that `POST /tools/invoke` allows although they are refused by default"),
        deny: z.array(z.string().min(1)).default([]).describe("Further tools that `POST /tools/invoke` refuses; wins over `allow`"),
      })
      .prefault({})
      .meta(hot),
    tls: z
      .strictObject({
        enabled: z.boolean().default(false).describe("Serve HTTPS and WSS"),
        certPath: pathText().optional().describe("Certificate chain, PEM; a changed file is loaded without a restart"),
        keyPath: pathText().optional().describe("Private key of the certificate, PEM; a changed file is loaded without a restart"),
        caPath: pathText().optional().describe("Certificate authorities of client certificates, PEM"),
      })
      .prefault({}),
    tailscale: z
      .strictObject({
        mode: z
          .enum(["off", "serve", "funnel"])
          .default("off")
          .describe("Publish the port in the tailnet (`serve`) or on the internet (`funnel`)"),
        resetOnExit: z.boolean().default(false).describe("Undo that when the gateway stops"),
      })
      .prefault({}),
    remote: gatewayRemoteSchema.prefault({}),
    reload: reload.prefault({}),
    shutdown: z
      .strictObject({
        drainMs: defaulted(durationMs(0, 600_000), 20_000, "20s").describe("How long a stop waits for active runs and pending sends"),
      })
      .prefault({})
      .meta({ reload: "none" }),
    channelHealthCheckMinutes: defaulted(duration("m", 0, 1_440), 5)
      .meta(hot)
      .describe("Interval between checks of channels that should be connected; 0 = off"),
    channelStaleEventThresholdMinutes: defaulted(duration("m", 1, 10_080), 30)
      .meta(hot)
      .describe(
        "A connected channel that is silent for this long is stale; only for channels that report liveness; at least the check interval",
      ),
    channelMaxRestartsPerHour: z
      .number()
      .int()
      .min(0)
      .max(1_000)
      .default(10)
      .meta(hot)
      .describe("Maximum restarts per account and hour by that check"),
  })
  .meta({ reload: "restart" });
