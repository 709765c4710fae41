import { isSvcError } from "../../../sdk/errors.ts";
import { shownName } from "../../../sdk/gateway/shown-name.ts";
import { protocolErrors } from "../../../sdk/protocol/errors.ts";
import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import { allScopes, hasScope } from "../../../sdk/scopes.ts";
import type { Remote } from "../../../sdk/types/http.ts";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import { deviceScopeRefusal, deviceTokenRefusal } from "../credential-errors.ts";
import type { DeviceRegistry } from "./device-registry.ts";
import { type PairingRequest, upgradeReason } from "./pairing-request.ts";
import type { DeviceRecord, DeviceRole, DeviceToken } from "./record.ts";

/** Credential that a caller passed with. */
export type PassedBy =
  /** The shared secret, or mode `none`. */
  | { via: "secret" }
  /** A plugin or a proxy said who it is, and what such a caller may have at most. */
  | { via: "identity" | "proxy"; ceiling: readonly string[] }
  | { via: "device-token"; token: string; entry: DeviceToken };

export interface AdmissionQuestion {
  connect: ConnectParams;
  role: DeviceRole;
  remote: Remote;
  passed: PassedBy;
  /** A device that proved itself. */
  deviceId: string | undefined;
}

/** Rights granted to a connection. `deviceId` only of a paired device. */
export interface Admission {
  scopes: OperatorScope[];
  deviceId?: string;
  issued?: { deviceToken: string; issuedAtMs: number };
  /** Aborts when the device may no longer be connected. */
  standing?: AbortSignal;
}

/**
 * Decides the last two steps of a handshake: pairing and scopes.
 * @throws {SvcError} `device-required`, `pairing-required`, `unauthorized` (too narrow a token), `service-unavailable` where a record is needed
 */
export async function admitDevice(question: AdmissionQuestion, registry: DeviceRegistry): Promise<Admission> {
  const { role, remote, passed, deviceId } = question;
  const isNeeded = role === "node" || (!remote.directLoopback && passed.via !== "proxy");
  if (deviceId === undefined) {
    if (isNeeded) throw protocolErrors.deviceRequired();
    return { scopes: scopesWithoutDevice(question) };
  }
  if (passed.via === "device-token") return byToken({ ...question, deviceId, passed }, registry);
  try {
    return await byRecord({ ...question, deviceId, isNeeded }, registry);
  } catch (error) {
    // Nobody who needs no device is shut out because its record cannot be read or written just now, or because there are too many.
    const isOurs = isSvcError(error) && (error.spec.rpc === "UNAVAILABLE" || error.code === "device-limit");
    if (isNeeded || !isOurs || !isTrusted(question)) throw error;
    return { scopes: scopesWithoutDevice(question) };
  }
}

async function byToken(
  question: AdmissionQuestion & { deviceId: string; passed: PassedBy & { via: "device-token" } },
  registry: DeviceRegistry,
): Promise<Admission> {
  const { connect, role, deviceId, passed } = question;
  const { entry, token } = passed;
  const standing = registry.standing(deviceId, role);
  const asked = role === "node" ? [] : askedScopes(connect);
  const scopes = (connect.scopes ?? []).length === 0 ? entry.scopes : asked;
  if (!scopes.every((scope) => hasScope(entry.scopes, scope))) throw deviceScopeRefusal();
  // Read once more: a revocation after this read ends `standing`, and one before it is seen here. Between the two none is missed.
  const record = await registry.find(deviceId);
  if (!isInForce(record, entry)) throw deviceTokenRefusal(record !== undefined);
  requirePaired({ ...question, scopes: [...scopes] }, { registry, record });
  registry.seen(deviceId);
  return { scopes: [...scopes], deviceId, issued: { deviceToken: token, issuedAtMs: entry.createdAtMs }, standing };
}

function isInForce(record: DeviceRecord | undefined, entry: DeviceToken): boolean {
  return (
    record?.tokens.some(({ role, hash, revokedAtMs }) => role === entry.role && hash === entry.hash && revokedAtMs === undefined) === true
  );
}

async function byRecord(
  question: AdmissionQuestion & { deviceId: string; isNeeded: boolean },
  registry: DeviceRegistry,
): Promise<Admission> {
  const { role, remote, passed, deviceId, isNeeded } = question;
  const scopes = role === "node" ? [] : withinCeiling(question);
  const request = { ...question, scopes };
  const known = await registry.find(deviceId);
  if (upgradeReason(known, wishFrom(request))) {
    const isSilent = remote.directLoopback && passed.via === "secret" && question.connect.client.mode !== "probe";
    if (isSilent) await registry.pairSilently(wishFrom(request));
    else if (isNeeded) requirePaired(request, { registry, record: known });
    else return { scopes: scopesWithoutDevice(question) };
  }
  // Only for a paired device, so that nobody else leaves a trace. Its record is read once more: a removal after this read ends `standing`, one before it is seen here.
  const standing = registry.standing(deviceId, role);
  const record = await registry.find(deviceId);
  if (!record) throw protocolErrors.unauthorized({ reason: "device removed" }, { details: "AUTH_CHANGED" });
  if (upgradeReason(record, wishFrom(request))) {
    // Removed and paired again with less between the two reads: somebody decided so, and nothing is approved silently against it.
    if (!isNeeded) return { scopes: scopesWithoutDevice(question) };
    requirePaired(request, { registry, record });
  }
  if (!mayHoldToken(question, record)) {
    registry.seen(deviceId);
    return { scopes, deviceId, standing };
  }
  return { scopes, deviceId, issued: await registry.issue(deviceId, role), standing };
}

/** A token carries all that the device was approved for: whoever may have less than that gets none, and leaves the one there is alone. */
function mayHoldToken({ passed, role }: AdmissionQuestion, record: DeviceRecord): boolean {
  const approved = role === "operator" ? record.scopes : [];
  return !("ceiling" in passed) || approved.every((scope) => hasScope(passed.ceiling, scope));
}

/** @throws {SvcError} `pairing-required` after the request was put before somebody who may approve it */
function requirePaired(
  question: AdmissionQuestion & { deviceId: string; scopes: OperatorScope[] },
  { registry, record }: { registry: DeviceRegistry; record: DeviceRecord | undefined },
): void {
  const request = wishFrom(question);
  const reason = upgradeReason(record, request);
  if (!reason) return;
  const { role, scopes, ...identity } = request;
  const { address } = question.remote;
  const asked = {
    ...identity,
    role,
    roles: [role],
    scopes,
    remoteIp: address,
    silent: false,
    isRepair: record !== undefined,
    ts: Date.now(),
  };
  const { requestId } = registry.pending.ask(asked);
  throw protocolErrors.pairingRequired({
    reason,
    requestId,
    remediationHint: "Approve this device from the pending pairing requests.",
    deviceId: question.deviceId,
    requestedRole: role,
    requestedScopes: scopes,
    ...approvedSoFar(record),
  });
}

function approvedSoFar(record: DeviceRecord | undefined): object {
  return record ? { approvedRoles: record.roles, approvedScopes: record.scopes } : {};
}

function wishFrom({ connect, deviceId, role, scopes }: AdmissionQuestion & { deviceId: string; scopes: OperatorScope[] }): PairingRequest {
  const { client, device } = connect;
  const [displayName, deviceFamily] = [shownName(client.displayName ?? ""), shownName(client.deviceFamily ?? "")];
  return {
    deviceId,
    publicKey: device?.publicKey ?? "",
    platform: shownName(client.platform),
    clientId: client.id,
    clientMode: client.mode,
    role,
    scopes,
    ...(displayName ? { displayName } : {}),
    ...(deviceFamily ? { deviceFamily } : {}),
  };
}

/** Scopes of an operator that shows no device, or needs none; nobody gets what it did not ask for. */
function scopesWithoutDevice(question: AdmissionQuestion): OperatorScope[] {
  return isTrusted(question) ? withinCeiling(question) : [];
}

/** Callers who may have what they ask for without a device. */
function isTrusted({ connect, passed }: AdmissionQuestion): boolean {
  const { id, mode } = connect.client;
  if (passed.via !== "secret" || mode === "probe") return true;
  return (id === "gateway-client" && mode === "backend") || (id === "cli" && mode === "cli") || id === "svc-control-ui";
}

function withinCeiling({ connect, passed, remote }: AdmissionQuestion): OperatorScope[] {
  const asked = askedScopes(connect);
  if ("ceiling" in passed) return asked.filter((scope) => hasScope(passed.ceiling, scope));
  return connect.client.mode === "probe" && remote.directLoopback ? asked.filter((scope) => scope === "operator.read") : asked;
}

function askedScopes(connect: ConnectParams): OperatorScope[] {
  return [...new Set(connect.scopes ?? [])].filter((scope): scope is OperatorScope => (allScopes as readonly string[]).includes(scope));
}
