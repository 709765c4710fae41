import { defineErrors } from "svc/sdk";

/** Codes of this plugin. `deliveries-full`, `delivery-state` and `storage-*` are the store's, `unknown-delivery` is the SDK's. */
export const messagingErrors = defineErrors({
  "unknown-channel": {
    message: 'unknown channel "{channel}"; expected last or one of {known}',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "UNKNOWN_CHANNEL",
    expose: { channel: { type: "string" } },
  },
  "recipient-required": { message: 'channel "{channel}": no recipient; name one in `to`', http: 400, rpc: "INVALID_REQUEST" },
  "invalid-recipient": { message: 'channel "{channel}": "{to}" is not a valid recipient: {reason}', http: 400, rpc: "INVALID_REQUEST" },
  "unsupported-channel": {
    message: "unsupported channel: {channel}; expected one of {known}",
    http: 400,
    rpc: "INVALID_REQUEST",
    expose: { channel: { type: "string" } },
  },
  "no-channel": {
    message: 'no channel for "{to}": name one in `channel`, or put it before the recipient, as in irc:#room',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "no-conversation": {
    message:
      "this session belongs to no conversation on a channel: your answer is shown here by itself; for another place name channel and to",
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "recipient-not-allowed": {
    message:
      'channel "{channel}": the agent may not write to "{to}" from this session; allowed are its own conversation and, outside of groups and webhooks, whoever allowFrom, groups or a pairing names',
    http: 403,
    rpc: "INVALID_REQUEST",
  },
  "not-delivered": { message: "message {uid} was not delivered: {reason}", http: 502, rpc: "UNAVAILABLE", exit: 1 },
  "text-too-long": {
    message: "a message of {bytes} bytes is too long; expected at most {maxBytes}",
    http: 413,
    rpc: "INVALID_REQUEST",
    expose: { maxBytes: { type: "integer" } },
  },
  "nothing-to-send": { message: "nothing to send; name a `message`, a `mediaUrl` or both", http: 400, rpc: "INVALID_REQUEST" },
  "invalid-media": {
    message: "a file of the message cannot be sent: {reason}",
    http: 400,
    rpc: "INVALID_REQUEST",
    expose: { reason: { type: "string" } },
  },
  "render-failed": { message: 'channel "{channel}" cannot render this text: {reason}', http: 500, rpc: "UNAVAILABLE" },
  "wait-timeout": {
    message: "message {uid}: it was not delivered within {timeoutMs} ms; it stays in the queue",
    http: 504,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "channel-not-known": { message: "invalid {method} channel", http: 400, rpc: "INVALID_REQUEST" },
  "unknown-account": {
    message: 'channel "{channel}" has no account "{account}"; see svc channels status',
    http: 400,
    rpc: "INVALID_REQUEST",
    expose: { channel: { type: "string" }, account: { type: "string" } },
  },
  "account-disabled": {
    message: 'channel "{channel}": account "{account}" is disabled in the config; set its `enabled` to true',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "channels-off": {
    message: "no account of a channel is started now: {reason}",
    http: 503,
    rpc: "UNAVAILABLE",
  },
  "login-not-supported": {
    message: 'channel "{channel}" has no sign-in of its own: its credentials are keys of the config; see svc channels list',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "login-under-way": {
    message: 'channel "{channel}": a sign-in of account "{account}" is under way already; end that one, or wait for it',
    http: 409,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "login-failed": {
    message: 'channel "{channel}": account "{account}" is not signed in: {reason}',
    http: 502,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "logout-failed": {
    message: 'channel "{channel}": account "{account}" is stopped, but its sign-in was not cleared: {reason}',
    http: 502,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "inbound-full": {
    message: 'channel "{channel}": too many messages wait to be answered',
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "media-stalled": { message: "the attachment did not arrive in time", http: 504, rpc: "UNAVAILABLE", retryable: true },
  "media-full": {
    message: "no room for an attachment now: {reason}; deliver the message without it, or later",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "pairing-unknown-sender": {
    message: '"{sender}" is not paired on channel "{channel}"; see svc pairing list',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "pairing-unknown-code": {
    message: 'no pairing request with this code waits on channel "{channel}", account "{account}"; see svc pairing list',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
});
