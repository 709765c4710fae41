/**
 * Exports that only plugins of this repository share. Not promised: they change without notice, and the loader refuses a plugin from elsewhere that imports
 * them. Whoever writes a plugin uses `svc/sdk`.
 */
export { duration, intervalMinutes } from "../config/amounts.ts";
export { formatIssue } from "../config/config-issue.ts";
export { configErrors } from "../config/errors.ts";
export { agentIdPattern, choice, defaulted, documented, pathText, REDACTED_VALUE } from "../config/fields.ts";
export { formatConfigPath, parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "../config/paths.ts";
export { parseSharedConfig } from "../config/root.ts";
export { sendPolicySchema } from "../config/send-policy.ts";
export { idsOf, ownValue, sameValue, type Tree } from "../config/tree.ts";
export { deliveryOwner, isStaleWrite, isUnchanged } from "../delivery-owner.ts";
export { createExpiryClock, type ExpiryClock } from "../expiry-clock.ts";
export { reached } from "../failpoint.ts";
export { addressBucket } from "../gateway/addresses.ts";
export { shownName } from "../gateway/shown-name.ts";
export { dropNotice, type Notice, noticePath, readNotices, writeNotice } from "../host/notices.ts";
export { exceedsJsonShape, jsonTextFault, parseJson, strictJsonLimits } from "../json-shape.ts";
export { loaderErrors } from "../loader/errors.ts";
export { isLogged, type LogLevel, logLevels } from "../log-levels.ts";
export { type CallOptions, type CallTool, type PromptMessage, toCallOptions, type VendorOptions } from "../model/call-options.ts";
export { bearerHeaders } from "../model/catalog.ts";
export { reportSkippedProviders } from "../model/doctor.ts";
export type { FaultRules, VendorError } from "../model/faults.ts";
export { type ModelProviders, registerModelProviders } from "../model/providers.ts";
export { apiOf, type ModelVendor, type ProviderSettings } from "../model/settings.ts";
export { type StreamPart, toDeltas } from "../model/stream-parts.ts";
export { createVendorFetch, type VendorFetch } from "../model/vendor-fetch.ts";
export { createVendorProvider, type VendorCall, type VendorProviderDeps } from "../model/vendor-provider.ts";
export { checkedUrl, type FetchRules, fetchPublic } from "../outbound/guarded-fetch.ts";
export { perSnapshot } from "../per-snapshot.ts";
export { isAlive, type LockOwner, processStartTime } from "../process-owner.ts";
export { plainName } from "../protocol/device.ts";
export { protocolErrors } from "../protocol/errors.ts";
export { idText } from "../protocol/methods/fields.ts";
export { RawJson } from "../protocol/raw-json.ts";
export { createReplays } from "../replays.ts";
export { allScopes, hasScope } from "../scopes.ts";
export { toStrictJson } from "../strict-json.ts";
export { isBareToken, judgeReply, MAX_WRAP_CHARS, mayBecomeToken, type Reply, stripLeadingAck } from "../text/acknowledgement.ts";
export { opening } from "../text/external-markers.ts";
export { foldLookAlikes } from "../text/fold.ts";
export { idExpectation, idFault, idPattern, isWellFormed, toIdText, toWellFormed } from "../text/id-text.ts";
export { timeOrderedId } from "../time-ordered-id.ts";
export { isInside } from "../trust/inside.ts";
export { makePrivate } from "../trust/make-private.ts";
export { openRegular } from "../trust/open-regular.ts";
export { commitWhenAvailable, isTransient, untilAvailable } from "../until-available.ts";
