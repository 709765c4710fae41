/** Exports for plugins. Everything else of the product is reached through the context. */
export { z } from "zod";
export * from "./agents.ts";
export { type ChildOptions, startChild } from "./child.ts";
export { durationMs, parseDuration, parseSize, sizeBytes } from "./config/amounts.ts";
export { type ConfigIssue, formatIssue, type IssueCode } from "./config/config-issue.ts";
export { configErrors } from "./config/errors.ts";
export { agentIdPattern, REDACTED_VALUE, type SecretRef, secret } from "./config/fields.ts";
export { hookMappingSchema } from "./config/hooks.ts";
export { applyMergePatch, createMergePatch, lostEntries } from "./config/merge-patch.ts";
export { formatConfigPath, parseConfigPath, resolveConfigPath, valueAt, withValueAt } from "./config/paths.ts";
export { rootSchema, type SvcConfig, type SvcConfigInput } from "./config/root.ts";
export { ownValue, sameValue, type Tree } from "./config/tree.ts";
export {
  defineCommand,
  definePlugin,
  EmbeddingError,
  isModelError,
  isRetryLater,
  ModelError,
  RetryLater,
  SDK_API_VERSION,
} from "./define.ts";
export { type BatchFile, type BatchFileOptions, createBatchFile, formWithFile } from "./embedding/batch-file.ts";
export { type BatchJobsOptions, createBatchJobs } from "./embedding/batch-jobs.ts";
export { faultOfStatus } from "./embedding/errors.ts";
export type { ExchangeBody } from "./embedding/exchange.ts";
export { isCredentialHeader, mergeHeaders, plainHeaders } from "./embedding/headers.ts";
export {
  createVendorHttp,
  localLimits,
  remoteLimits,
  type VendorHttp,
  type VendorHttpOptions,
  type VendorRequest,
} from "./embedding/http.ts";
export { jsonLines } from "./embedding/json-lines.ts";
export { withoutVendor } from "./embedding/models.ts";
export { type OpenAiShapedOptions, offeredDimensions, openOpenAiShaped } from "./embedding/openai-shaped.ts";
export { type RemoteEndpoint, type RemoteSource, type RemoteVendor, resolveRemote } from "./embedding/remote.ts";
export {
  createTextEmbedder,
  type EmbedAnswer,
  type EmbedRequest,
  type TextEmbedderOptions,
  type TextKind,
} from "./embedding/text-embedder.ts";
export { checkedVectors, type ExpectedVectors, inIndexOrder, readVector, toUnitVector } from "./embedding/vectors.ts";
export {
  type CreateError,
  commonErrors,
  createError,
  defineErrors,
  type ErrorSpec,
  type ErrorTable,
  isSvcError,
  messageOf,
  type PlainError,
  type RpcCode,
  SvcError,
  type SvcErrorOptions,
} from "./errors.ts";
export { createExpiryClock, type ExpiryClock } from "./expiry-clock.ts";
export { reached } from "./failpoint.ts";
export { writeFileAtomic } from "./files.ts";
export { addressBucket } from "./gateway/addresses.ts";
export { createFailureLimiter, type FailureLimiter, type RateLimitConfig } from "./gateway/failure-limiter.ts";
export { shownName } from "./gateway/shown-name.ts";
export * from "./hooks.ts";
export { type FileLockOptions, withFileLock } from "./host/file-lock.ts";
export {
  type InstallIndex,
  type InstallRecord,
  installedPluginFolder,
  installedPluginsRoot,
  readInstallIndex,
  writeInstallRecord,
} from "./host/install-record.ts";
export { isAlive, type LockOwner, processStartTime } from "./host/lock.ts";
export { dropNotice, type Notice, noticePath, readNotices, writeNotice } from "./host/notices.ts";
export { importOwn, resolveOwn } from "./import-own.ts";
export { isRecord } from "./is-record.ts";
export * from "./json-schema.ts";
export { exceedsJsonShape, type JsonLimits, jsonTextFault, parseJson, strictJsonLimits } from "./json-shape.ts";
export { loaderErrors } from "./loader/errors.ts";
export { isLogged, type LogLevel, logLevels } from "./log-levels.ts";
export { perSnapshot } from "./per-snapshot.ts";
export { protocolErrors } from "./protocol/errors.ts";
export type { EventPayloadOf } from "./protocol/event-payloads.ts";
export { type EventSpec, type ProtocolEvent, protocolEvents } from "./protocol/events.ts";
export * from "./protocol/frames.ts";
export { isAdminPatch } from "./protocol/methods/sessions.ts";
export { type MethodSpec, type ParamsOf, type ProtocolMethod, protocolMethod, protocolMethods } from "./protocol/methods.ts";
export { RawJson } from "./protocol/raw-json.ts";
export type { AcceptedResultOf, FinalResultOf, ResultOf } from "./protocol/results.ts";
export type { TypedEvents, TypedRequest } from "./protocol/typed.ts";
export { readEnv } from "./read-env.ts";
export { createReplays, type ReplayBounds, type Replays } from "./replays.ts";
export { retryAfterMs } from "./retry-after.ts";
export { secretErrors } from "./secrets/errors.ts";
export { isNotDispatched, isSendRefused, NotDispatchedError, SendRefusedError } from "./send-errors.ts";
export { toStrictJson } from "./strict-json.ts";
export { isBareToken, judgeReply, MAX_WRAP_CHARS, mayBecomeToken, type Reply, stripAck, stripLeadingAck } from "./text/acknowledgement.ts";
export {
  cleanExternalLine,
  cutFramed,
  EXTERNAL_NOTICE,
  type ExternalMeta,
  frameExternal,
  neutralize,
  stripFrames,
  wrapExternal,
} from "./text/external-content.ts";
export { createFrameStripper, type FrameStripper } from "./text/frame-stripper.ts";
export { idFault, isWellFormed, toIdText, toWellFormed } from "./text/id-text.ts";
export { cutEnd, oneLine } from "./text/one-line.ts";
export { printable, printableLine } from "./text/printable.ts";
export { countSuspicious } from "./text/suspicious.ts";
export { backoffDelayMs, settledWithin, sleep, withLimit } from "./time.ts";
export { isInside } from "./trust/inside.ts";
export { makePrivate } from "./trust/make-private.ts";
export { type OpenRegularOptions, openRegular } from "./trust/open-regular.ts";
export { treeIntegrity } from "./trust/tree-integrity.ts";
export type * from "./types/agents.ts";
export type * from "./types/approvals.ts";
export type * from "./types/channel.ts";
export type * from "./types/checks.ts";
export type * from "./types/cli.ts";
export type * from "./types/common.ts";
export type * from "./types/config.ts";
export type * from "./types/config-file.ts";
export type * from "./types/context.ts";
export type * from "./types/embedding.ts";
export type * from "./types/gateway.ts";
export type * from "./types/hook-preset.ts";
export type * from "./types/hook-transform.ts";
export type * from "./types/http.ts";
export type * from "./types/log.ts";
export type * from "./types/manifest.ts";
export type * from "./types/memory.ts";
export type * from "./types/memory-backend.ts";
export type * from "./types/messaging.ts";
export type * from "./types/model.ts";
export type * from "./types/plugin-candidate.ts";
export type * from "./types/plugin-record.ts";
export type * from "./types/reload.ts";
export type * from "./types/rpc.ts";
export type * from "./types/sandbox.ts";
export type * from "./types/schema.ts";
export type * from "./types/secrets.ts";
export type * from "./types/services.ts";
export type * from "./types/store.ts";
export type * from "./types/tool.ts";
export type * from "./types/ui-panel.ts";
export { readVendorWords, scrubVendorText, type VendorWords } from "./vendor-text.ts";
export { startWorker, workerUrl } from "./worker.ts";
