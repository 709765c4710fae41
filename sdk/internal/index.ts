/**
 * Exports that only plugins of this repository share. Not promised: they change without notice, and the loader refuses a plugin from elsewhere that imports
 * them. Whoever writes a plugin uses `svc/sdk`.
 */
export { duration, intervalMinutes } from "../config/amounts.ts";
export { formatIssue } from "../config/config-issue.ts";
export { agentIdPattern, defaulted, documented, idText, pathText, REDACTED_VALUE } from "../config/fields.ts";
export { parseSharedConfig } from "../config/root.ts";
export { sendPolicySchema } from "../config/send-policy.ts";
export { isSensitiveName } from "../config/sensitive-name.ts";
export { toolProfiles, toolTexts } from "../config/tools.ts";
export { idsOf, ownValue, sameValue, type Tree } from "../config/tree.ts";
export { reached } from "../failpoint.ts";
export { syncFolder } from "../files.ts";
export { isLogged, type LogLevel, logLevels } from "../log-levels.ts";
export { isAlive, type LockOwner, processStartTime } from "../process-owner.ts";
export { plainName } from "../protocol/device.ts";
export { cutFramedAt } from "../text/external-content.ts";
export { opening } from "../text/external-markers.ts";
export { foldLookAlikes } from "../text/fold.ts";
export { idExpectation, idFault, idPattern, isWellFormed, toIdText, toWellFormed } from "../text/id-text.ts";
export { isBareToken, judgeReply, MAX_WRAP_CHARS, mayBecomeToken, type Reply, stripLeadingAck } from "./acknowledgement.ts";
export { addressBucket } from "./addresses.ts";
export { arrivalsOf, inArrivals, itemsOf } from "./arrivals.ts";
export { formatConfigPath, parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "./config-paths.ts";
export {
  CRON_SCOPE,
  type CronJobRow,
  type CronLogPlace,
  type CronSchedule,
  cronJobFields,
  cronJobKey,
  cronJobRow,
  cronJobState,
  cronPayload,
  cronSchedule,
} from "./cron-job.ts";
export { deliveryOwner, isStaleWrite, isUnchanged } from "./delivery-owner.ts";
export { sharedErrors } from "./errors.ts";
export { createExpiryClock, type ExpiryClock } from "./expiry-clock.ts";
export { type FoundFile, inFolder, inWorkspace, openContained, partsBelow, replaceContained, shownPath } from "./files/contained.ts";
export { type Closed, closedIn } from "./files/gateway-own.ts";
export { holdFolder } from "./files/held-folder.ts";
export { isInside } from "./files/inside.ts";
export { makePrivate } from "./files/make-private.ts";
export { dropNotice, type Notice, noticePath, readNotices, writeNotice } from "./files/notices.ts";
export { openRegular } from "./files/open-regular.ts";
export { readRegularFile } from "./files/read-regular.ts";
export { continueReplacement, hasReplacement, type Move, replaceTogether } from "./files/replacement.ts";
export { isGlobMatch } from "./glob.ts";
export { googleApiBase, googleApiVersion } from "./google-address.ts";
export { hasGateway } from "./has-gateway.ts";
export { exceedsJsonShape, jsonTextFault, parseJson, strictJsonLimits } from "./json-shape.ts";
export { KeyedMutex } from "./keyed-mutex.ts";
export { type AnswerLimits, documentLimits } from "./model/answer-limits.ts";
export { begunByUser, type CallOptions, type CallTool, type PromptMessage, toCallOptions } from "./model/call-options.ts";
export { bearerHeaders } from "./model/catalog.ts";
export { reportSkippedProviders } from "./model/doctor.ts";
export type { FaultRules, VendorError } from "./model/faults.ts";
export { registerModelProviders } from "./model/providers.ts";
export { apiOf, isForLocalRuntime, type ModelVendor, modelParamsOf, type ProviderSettings } from "./model/settings.ts";
export { createDeltaReader, type StreamPart, toDeltas } from "./model/stream-parts.ts";
export { createVendorFetch, refusedAnswer, type VendorFetch } from "./model/vendor-fetch.ts";
export { createVendorProvider, type VendorCall, type VendorProviderDeps } from "./model/vendor-provider.ts";
export { isModelReference, parseModelSource } from "./model-source.ts";
export { perSnapshot } from "./per-snapshot.ts";
export { pictureType } from "./picture-type.ts";
export { createProgress } from "./progress.ts";
export { RawJson } from "./raw-json.ts";
export { createReplays } from "./replays.ts";
export { allScopes, hasScope } from "./scopes.ts";
export { shownName } from "./shown-name.ts";
export { toStrictJson } from "./strict-json.ts";
export { ThreadJobs } from "./thread-jobs.ts";
export { timeOrderedId } from "./time-ordered-id.ts";
export { commitWhenAvailable, isTransient, untilAvailable } from "./until-available.ts";
