import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { hasScope } from "../../sdk/internal/scopes.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import { type ConnectParams, connectParams, PROTOCOL_VERSION } from "../../sdk/protocol/frames.ts";
import type { ClientInfo } from "../../sdk/types/rpc.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { ClientPolicy } from "../auth/client-policy.ts";
import { type Admission, admitDevice, type DeviceKeeper } from "../auth/devices/admission.ts";
import { createDeviceClaim } from "../auth/devices/claim.ts";
import type { Grant } from "../auth/grants.ts";
import type { TailnetIdentity } from "../auth/tailnet/identity.ts";
import { protocolErrors } from "../errors.ts";

const browserClients = new Set(["svc-control-ui", "webchat-ui", "webchat"]);

export interface HandshakeDeps {
  authenticator: Authenticator;
  clientPolicy: ClientPolicy;
  keeper: DeviceKeeper;
  tailnet: TailnetIdentity;
}

/** A client that was let in, and what let it in. */
export interface Admitted {
  info: ClientInfo;
  connect: ConnectParams;
  issued: Admission["issued"];
  rights: Grant[];
}

/**
 * Admits or refuses a `connect`, in this order: params, protocol, role, origin, credentials, device, pairing, scopes.
 * @param nonce of this socket's challenge
 * @throws {SvcError} of the first check that fails
 */
export async function admitClient(params: unknown, at: { req: IncomingMessage; nonce: string }, deps: HandshakeDeps): Promise<Admitted> {
  const { authenticator, clientPolicy, keeper, tailnet } = deps;
  const connect = parseConnect(params);
  if (connect.minProtocol > PROTOCOL_VERSION || connect.maxProtocol < PROTOCOL_VERSION) {
    const fields = { clientMinProtocol: connect.minProtocol, clientMaxProtocol: connect.maxProtocol, expectedProtocol: PROTOCOL_VERSION };
    throw protocolErrors.protocolMismatch(fields);
  }
  const role = connect.role ?? "operator";
  if (role !== "operator" && role !== "node") throw protocolErrors.invalidRole();
  checkOrigin(connect, at.req, deps);
  const remote = clientPolicy.callerOf(at.req);
  const find = async (deviceId: string) => keeper.devices().find(deviceId);
  const invited = (token: string) => keeper.devices().invited(token);
  const device = createDeviceClaim(connect, { nonce: at.nonce, now: Date.now(), role, find, invited });
  const proxy = clientPolicy.proxyVerdict(at.req);
  const how = { transport: "ws", proxy, device, tailnet: () => tailnet(at.req, remote) } as const;
  const passed = await authenticator.check(connect.auth ?? {}, remote, how);
  const admission = await admitDevice({ connect, role, remote, passed: passed.by, deviceId: device?.prove() }, keeper);
  const { scopes, deviceId, issued, standing } = admission;
  const info: ClientInfo = {
    connId: randomUUID(),
    clientId: connect.client.id,
    mode: connect.client.mode,
    role,
    scopes,
    caps: connect.caps ?? [],
    remote: remote.address,
    ...(remote.directLoopback ? { directLoopback: true } : {}),
    ...(connect.client.instanceId ? { instanceId: connect.client.instanceId } : {}),
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(passed.known ? { identity: passed.known.identity } : {}),
  };
  const rights: Grant[] = standing ? [{ signal: standing }] : [];
  if (passed.by.via === "proxy") rights.push(proxyRight(info, at.req, deps));
  else if (passed.revoked) rights.push({ signal: passed.revoked });
  return { info, connect, issued, rights };
}

/** A proxy's word is asked for again when the rules change: whoever would be let in as the same user with as much goes on. */
function proxyRight(info: ClientInfo, req: IncomingMessage, deps: HandshakeDeps): Grant {
  return {
    signal: deps.authenticator.proxyRules,
    renewed() {
      const verdict = deps.clientPolicy.proxyVerdict(req);
      if (verdict?.kind !== "identity" || verdict.identity.user !== info.identity) return undefined;
      return info.scopes.every((scope) => hasScope(verdict.identity.scopesCeiling, scope)) ? proxyRight(info, req, deps) : undefined;
    },
  };
}

function parseConnect(params: unknown): ConnectParams {
  const parsed = connectParams.safeParse(params ?? {});
  if (!parsed.success) throw protocolErrors.invalidConnect({ issues: formatIssues(parsed.error.issues) });
  return parsed.data;
}

function checkOrigin(connect: ConnectParams, req: IncomingMessage, deps: HandshakeDeps): void {
  const { origin } = req.headers;
  if (origin === undefined) {
    const advice = "a browser client must send its Origin";
    if (browserClients.has(connect.client.id)) throw protocolErrors.originNotAllowed({ advice, reason: "origin missing" });
    return;
  }
  const advice = `add ${JSON.stringify(origin)} to gateway.controlUi.allowedOrigins`;
  if (!deps.clientPolicy.isOriginAllowed(origin, req)) throw protocolErrors.originNotAllowed({ advice, reason: "not listed" });
}
