import { isSvcError } from "../../../sdk/errors.ts";
import { allScopes, hasScope } from "../../../sdk/internal/scopes.ts";
import { shownName } from "../../../sdk/internal/shown-name.ts";
import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import type { DeviceRole, Devices, KnownDevice, PairingRequest, UpgradeReason } from "../../../sdk/types/devices.ts";
import type { Remote } from "../../../sdk/types/http.ts";
import type { OperatorScope } from "../../../sdk/types/rpc.ts";
import { protocolErrors } from "../../errors.ts";
import { deviceScopeRefusal, deviceTokenRefusal, invitationEnded } from "../credential-errors.ts";
import type { DeviceConnections } from "./device-connections.ts";

/** Credential that a caller passed with. */
export type PassedBy =
  /** The shared secret, or mode `none`. */
  | { via: "secret" }
  /** A plugin or a proxy said who it is, and what such a caller may have at most. */
  | { via: "identity" | "proxy"; ceiling: readonly string[] }
  /** Somebody who is connected invited one new device; it may have no more than that person. */
  | { via: "invitation"; token: string; ceiling: readonly OperatorScope[] }
  | { via: "device-token"; token: string };

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

/** Keeper of paired devices, and the right of those that are connected to stay. */
export interface DeviceKeeper {
  /** The service of the plugin that keeps them. @throws {SvcError} `service-unavailable` while there is none */
  devices(): Devices;
  standing: DeviceConnections["standing"];
}

/**
 * Decides the last two steps of a handshake: pairing and scopes.
 * @throws {SvcError} `device-required`, `pairing-required`, `unauthorized` (too narrow a token, an invitation that ended), `service-unavailable` where a paired device is needed
 */
export async function admitDevice(question: AdmissionQuestion, keeper: DeviceKeeper): Promise<Admission> {
  const { role, remote, passed, deviceId } = question;
  const isNeeded = role === "node" || passed.via === "invitation" || (!remote.directLoopback && passed.via !== "proxy");
  if (deviceId === undefined) {
    if (isNeeded) throw protocolErrors.deviceRequired();
    return { scopes: scopesWithoutDevice(question) };
  }
  if (passed.via === "device-token") return byToken({ ...question, deviceId, passed }, keeper);
  try {
    return await byPairing({ ...question, deviceId, isNeeded }, keeper);
  } catch (error) {
    // Nobody who needs no device is shut out because its record cannot be read or written just now, or because there are too many.
    const isOurs = isSvcError(error) && (error.spec.rpc === "UNAVAILABLE" || error.code === "device-limit");
    if (isNeeded || !isOurs || !isTrusted(question)) throw error;
    return { scopes: scopesWithoutDevice(question) };
  }
}

async function byToken(
  question: AdmissionQuestion & { deviceId: string; passed: PassedBy & { via: "device-token" } },
  keeper: DeviceKeeper,
): Promise<Admission> {
  const { connect, role, deviceId, passed } = question;
  const { token } = passed;
  const standing = keeper.standing(deviceId, role);
  const devices = keeper.devices();
  // Read once more: a revocation after this read ends `standing`, and one before it is seen here. Between the two none is missed.
  const known = await devices.find(deviceId);
  const judged = known?.judge(role, token);
  if (judged?.verdict !== "valid") throw deviceTokenRefusal(known !== undefined);
  const { entry } = judged;
  const asked = role === "node" ? [] : askedScopes(connect);
  const scopes = (connect.scopes ?? []).length === 0 ? entry.scopes : asked;
  if (!scopes.every((scope) => hasScope(entry.scopes, scope))) throw deviceScopeRefusal();
  requirePaired({ ...question, scopes: [...scopes] }, { devices, known });
  devices.seen(deviceId);
  return { scopes: [...scopes], deviceId, issued: { deviceToken: token, issuedAtMs: entry.createdAtMs }, standing };
}

async function byPairing(question: AdmissionQuestion & { deviceId: string; isNeeded: boolean }, keeper: DeviceKeeper): Promise<Admission> {
  const { role, remote, passed, deviceId, isNeeded } = question;
  const scopes = role === "node" ? [] : withinCeiling(question);
  const request = { ...question, scopes };
  const devices = keeper.devices();
  const before = await devices.find(deviceId);
  if (passed.via === "invitation") {
    // It ends also by a device that had these rights already: whoever has seen the code must not come after it.
    if (!(await devices.pairInvited(passed.token, requestOf(request)))) throw invitationEnded();
  } else if (missingFor(before, requestOf(request))) {
    const isSilent = remote.directLoopback && passed.via === "secret" && question.connect.client.mode !== "probe";
    if (isSilent) await devices.pairSilently(requestOf(request));
    else if (isNeeded) requirePaired(request, { devices, known: before });
    else return { scopes: scopesWithoutDevice(question) };
  }
  // Only for a paired device, so that nobody else leaves a trace. It is read once more: a removal after this read ends `standing`, one before it is seen here.
  const standing = keeper.standing(deviceId, role);
  const known = await devices.find(deviceId);
  if (!known) throw protocolErrors.unauthorized({ reason: "device removed" }, { details: "AUTH_CHANGED" });
  if (missingFor(known, requestOf(request))) {
    // Removed and paired again with less between the two reads: somebody decided so, and nothing is approved silently against it.
    if (!isNeeded) return { scopes: scopesWithoutDevice(question) };
    requirePaired(request, { devices, known });
  }
  if (!mayHoldToken(question, known)) {
    devices.seen(deviceId);
    return { scopes, deviceId, standing };
  }
  return { scopes, deviceId, issued: await devices.issue(deviceId, role), standing };
}

/** Reason why a device has to be approved for what it asks for; undefined when it is. */
function missingFor(known: KnownDevice | undefined, request: PairingRequest): UpgradeReason | "not-paired" | undefined {
  return known ? known.upgradeReason(request) : "not-paired";
}

/** A token carries all that the device was approved for: whoever may have less than that gets none, and leaves the one there is alone. */
function mayHoldToken({ passed, role }: AdmissionQuestion, known: KnownDevice): boolean {
  const approved = role === "operator" ? known.scopes : [];
  return !("ceiling" in passed) || approved.every((scope) => hasScope(passed.ceiling, scope));
}

/** @throws {SvcError} `pairing-required` after the request was put before somebody who may approve it */
function requirePaired(
  question: AdmissionQuestion & { deviceId: string; scopes: OperatorScope[] },
  { devices, known }: { devices: Devices; known: KnownDevice | undefined },
): void {
  const request = requestOf(question);
  const reason = missingFor(known, request);
  if (!reason) return;
  const { requestId } = devices.ask(request, { remoteIp: question.remote.address, isRepair: known !== undefined });
  throw protocolErrors.pairingRequired({
    reason,
    requestId,
    remediationHint: "Approve this device from the pending pairing requests.",
    deviceId: question.deviceId,
    requestedRole: request.role,
    requestedScopes: request.scopes,
    ...(known ? { approvedRoles: known.roles, approvedScopes: known.scopes } : {}),
  });
}

function requestOf({ connect, deviceId, role, scopes }: AdmissionQuestion & { deviceId: string; scopes: OperatorScope[] }): PairingRequest {
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
