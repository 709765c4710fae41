/** Exports for plugins. Everything else of the product is reached through the context. */
export { z } from "zod";
export * from "./agents.ts";
export { ChannelInbox, type ChannelInboxOptions } from "./channels/inbox.ts";
export { AccountRefusedError, type KeepConnectedOptions, keepConnected, reconnectWaitMs } from "./channels/keep-connected.ts";
export { type MarkedTextOptions, markedText } from "./channels/marked-text.ts";
export { accountIds, accountKeys, type RawAccount } from "./channels/section.ts";
export { type ChannelTls, tlsOptions } from "./channels/tls-options.ts";
export { type ChildOptions, startChild } from "./child.ts";
export { durationMs, parseDuration, parseSize, sizeBytes } from "./config/amounts.ts";
export { type SecretRef, secret } from "./config/fields.ts";
export type { SvcConfig, SvcConfigInput } from "./config/root.ts";
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
export { writeFileAtomic } from "./files.ts";
export * from "./hook-taps.ts";
export * from "./hooks.ts";
export { isRecord } from "./is-record.ts";
export * from "./json-schema.ts";
export { killWithOwner } from "./kill-with-owner.ts";
export { isPublicAddress } from "./outbound/address-guard.ts";
export { checkedUrl, type FetchRules, fetchPublic } from "./outbound/guarded-fetch.ts";
export { hostList, toHostPattern } from "./outbound/host-list.ts";
export type { EventPayloadOf } from "./protocol/event-payloads.ts";
export * from "./protocol/frames.ts";
export {
  type MethodSpec,
  method as methodSpec,
  methodOf,
  type PluginProtocol,
  waitingMethod as waitingMethodSpec,
} from "./protocol/methods/spec.ts";
export type { ParamsOf } from "./protocol/methods.ts";
export type { AcceptedResultOf, FinalResultOf, ResultOf } from "./protocol/results.ts";
export type { TypedEvents, TypedRequest } from "./protocol/typed.ts";
export { readEnv } from "./read-env.ts";
export { retryAfterMs } from "./retry-after.ts";
export { isNotDispatched, isSendRefused, NotDispatchedError, SendRefusedError } from "./send-errors.ts";
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
export { cutEnd, oneLine } from "./text/one-line.ts";
export { printable, printableLine } from "./text/printable.ts";
export { backoffDelayMs, settledWithin, sleep, withLimit } from "./time.ts";
export { isTimeZone } from "./time-zone.ts";
export type * from "./types/agents.ts";
export type * from "./types/approvals.ts";
export type * from "./types/bedrock.ts";
export type * from "./types/channel.ts";
export type * from "./types/checks.ts";
export type * from "./types/cli.ts";
export type * from "./types/common.ts";
export type * from "./types/config.ts";
export type * from "./types/config-file.ts";
export type * from "./types/context.ts";
export type * from "./types/cron.ts";
export type * from "./types/devices.ts";
export type * from "./types/embedding.ts";
export type * from "./types/folder-watches.ts";
export type * from "./types/gateway.ts";
export type * from "./types/hook-preset.ts";
export type * from "./types/hook-transform.ts";
export type * from "./types/http.ts";
export type * from "./types/installed-plugins.ts";
export type * from "./types/leases.ts";
export type * from "./types/local-runtime.ts";
export type * from "./types/log.ts";
export type * from "./types/manifest.ts";
export type * from "./types/memory.ts";
export type * from "./types/memory-backend.ts";
export type * from "./types/messaging.ts";
export type * from "./types/metrics.ts";
export type * from "./types/model.ts";
export type * from "./types/plugin-candidate.ts";
export type * from "./types/plugin-record.ts";
export type * from "./types/plugins-service.ts";
export type * from "./types/reload.ts";
export type * from "./types/request.ts";
export type * from "./types/rpc.ts";
export type * from "./types/sandbox.ts";
export type * from "./types/schema.ts";
export type * from "./types/secrets.ts";
export type * from "./types/services.ts";
export type * from "./types/store.ts";
export type * from "./types/store-backend.ts";
export type * from "./types/store-rows.ts";
export type * from "./types/tool.ts";
export type * from "./types/tracing.ts";
export type * from "./types/ui-panel.ts";
export type * from "./types/vendor.ts";
export { readVendorWords, scrubVendorText, type VendorWords } from "./vendor-text.ts";
export { startWorker, workerUrl } from "./worker.ts";
