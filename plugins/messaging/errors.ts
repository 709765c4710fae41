import { defineErrors } from "svc/sdk";

/** Codes of this plugin. `deliveries-full`, `delivery-state` and `storage-*` are the store's, `unknown-delivery` is the SDK's. */
export const messagingErrors = defineErrors({
  "unknown-channel": {
    message: 'unknown channel "{channel}"; expected last or one of {known}',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "UNKNOWN_CHANNEL",
    expose: ["channel"],
  },
  "recipient-required": { message: 'channel "{channel}": no recipient; name one in `to`', http: 400, rpc: "INVALID_REQUEST" },
  "invalid-recipient": { message: 'channel "{channel}": "{to}" is not a valid recipient: {reason}', http: 400, rpc: "INVALID_REQUEST" },
  "text-too-long": {
    message: "a message of {bytes} bytes is too long; expected at most {maxBytes}",
    http: 413,
    rpc: "INVALID_REQUEST",
    expose: ["maxBytes"],
  },
  "wait-timeout": {
    message: "message {uid}: it was not delivered within {timeoutMs} ms; it stays in the queue",
    http: 504,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
});
