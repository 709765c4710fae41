import type { ClientError } from "../../sdk/client/index.ts";
import type { CliTarget } from "../../sdk/types/cli.ts";

/** Advice for a refused connection; names the source of the secret, never the secret. Undefined: the message says it all. Pure. */
export function secretHint(
  { code, detailCode, details }: Pick<ClientError, "code" | "detailCode" | "details">,
  target: Pick<CliTarget, "token" | "password" | "secretSource">,
): string | undefined {
  const requestId = details?.code === "PAIRING_REQUIRED" ? details.requestId : undefined;
  if (typeof requestId === "string" && /^[\w-]{1,64}$/.test(requestId))
    return `approve this device on the gateway's machine: svc devices approve ${requestId}`;
  if (code === "NOT_PAIRED")
    return "connect from the gateway's own machine, for instance through: ssh -N -L <port>:127.0.0.1:<port> <host>";
  if (!detailCode?.startsWith("AUTH_")) return undefined;
  const wanted = /^AUTH_(TOKEN|PASSWORD)_/.exec(detailCode)?.[1]?.toLowerCase();
  if (target.secretSource === "none") return noSecret(wanted);
  const given = target.password === undefined ? "token" : "password";
  // A gateway tells which of the two it asks for only when the one that was sent is wrong.
  if (wanted !== undefined && wanted !== given && target.secretSource !== "runtime")
    return `the gateway asks for a ${wanted}, and a ${given} was sent (from ${target.secretSource}); give --${wanted}`;
  return `the secret came from ${target.secretSource}; the gateway may have been started with another one`;
}

function noSecret(wanted: string | undefined): string {
  if (wanted === undefined) return "no secret was found; give --token or --password, or set SVC_GATEWAY_TOKEN or SVC_GATEWAY_PASSWORD";
  return `no ${wanted} was found; give --${wanted}, or set SVC_GATEWAY_${wanted.toUpperCase()}`;
}
