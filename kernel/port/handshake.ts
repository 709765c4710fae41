import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { SvcError } from "../../sdk/errors.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import { type ConnectParams, connectParams, PROTOCOL_VERSION } from "../../sdk/protocol/frames.ts";
import type { ClientInfo, OperatorScope } from "../../sdk/types/rpc.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { remoteOf } from "../auth/remote.ts";
import "../errors.ts";

const browserClients = new Set(["svc-control-ui", "webchat-ui", "webchat"]);

export interface HandshakeDeps {
  authenticator: Authenticator;
  isOriginAllowed(origin: string, req: IncomingMessage): boolean;
}

/**
 * Decides about a `connect` in the order of `protocol.md` 3.2: params, protocol, role, origin, credentials, device, scopes.
 * @throws {SvcError} with the row of `protocol.md` 3.5
 */
export async function admitClient(
  params: unknown,
  req: IncomingMessage,
  deps: HandshakeDeps,
): Promise<ClientInfo & { params: ConnectParams; revoked: AbortSignal }> {
  const connect = parseConnect(params);
  if (connect.minProtocol > PROTOCOL_VERSION || connect.maxProtocol < PROTOCOL_VERSION) {
    const fields = { clientMinProtocol: connect.minProtocol, clientMaxProtocol: connect.maxProtocol, expectedProtocol: PROTOCOL_VERSION };
    throw new SvcError("protocol-mismatch", fields);
  }
  const role = connect.role ?? "operator";
  if (role !== "operator" && role !== "node") throw new SvcError("invalid-role");
  checkOrigin(connect, req, deps);
  const remote = remoteOf(req);
  const { revoked, known } = await deps.authenticator.check(connect.auth ?? {}, remote, "ws");
  // Nodes and remote operators prove themselves by a paired device; pairing is not part of this release.
  if (role === "node" || !remote.directLoopback) throw new SvcError("device-required");
  return {
    connId: randomUUID(),
    clientId: connect.client.id,
    mode: connect.client.mode,
    role,
    scopes: known ? askedScopes(connect).filter((scope) => known.scopes.includes(scope)) : grantedScopes(connect),
    caps: connect.caps ?? [],
    remote: remote.address,
    ...(connect.client.instanceId ? { instanceId: connect.client.instanceId } : {}),
    ...(known ? { identity: known.identity } : {}),
    params: connect,
    revoked,
  };
}

function parseConnect(params: unknown): ConnectParams {
  const parsed = connectParams.safeParse(params ?? {});
  if (!parsed.success) throw new SvcError("invalid-connect", { issues: formatIssues(parsed.error.issues) });
  return parsed.data;
}

function checkOrigin(connect: ConnectParams, req: IncomingMessage, deps: HandshakeDeps): void {
  const { origin } = req.headers;
  if (origin === undefined) {
    const advice = "a browser client must send its Origin";
    if (browserClients.has(connect.client.id)) throw new SvcError("origin-not-allowed", { advice, reason: "origin missing" });
    return;
  }
  const advice = `add ${JSON.stringify(origin)} to gateway.controlUi.allowedOrigins`;
  if (!deps.isOriginAllowed(origin, req)) throw new SvcError("origin-not-allowed", { advice, reason: "not listed" });
}

/** Scopes of an operator on direct loopback with a valid secret (`protocol.md` 3.2); nobody gets what it did not ask for. */
function grantedScopes(connect: ConnectParams): OperatorScope[] {
  const asked = askedScopes(connect);
  const { id, mode } = connect.client;
  if (mode === "probe") return asked.filter((s) => s === "operator.read");
  const trusted = (id === "gateway-client" && mode === "backend") || (id === "cli" && mode === "cli") || id === "svc-control-ui";
  return trusted ? asked : [];
}

function askedScopes(connect: ConnectParams): OperatorScope[] {
  return [...new Set(connect.scopes ?? [])].filter((s): s is OperatorScope => /^operator\.(read|write|approvals|pairing|admin)$/.test(s));
}
