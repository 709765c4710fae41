// Written by npm run docs; do not edit.

/** Fields of `error.details` beside its `code`, by that code. */
export interface ErrorDetailsByCode {
  ABORTED: unknown;
  AUTH: unknown;
  AUTH_BOOTSTRAP_TOKEN_MISMATCH: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_CHANGED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_DEVICE_TOKEN_MISMATCH: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_IDENTITY_HEADER_REQUIRED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PASSWORD_MISMATCH: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PASSWORD_MISSING: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_HEADER_MISSING: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_LOOPBACK_NOT_ALLOWED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_OWN_ADDRESS: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_UNTRUSTED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_USER_AMBIGUOUS: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_PROXY_USER_NOT_ALLOWED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_RATE_LIMITED: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_SCOPE_MISMATCH: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_TOKEN_MISMATCH: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  AUTH_TOKEN_MISSING: { authReason?: string; canRetryWithDeviceToken?: boolean; recommendedNextStep?: string };
  BLOCKED: { plugin?: string };
  BUSY: unknown;
  CLIENT_TOOL_CONFLICT: { tool?: string };
  CONFLICT: { currentHash?: string | null };
  CONTEXT_OVERFLOW: unknown;
  CONTROL_UI_ORIGIN_NOT_ALLOWED: { reason?: string };
  DELIVERIES_FULL: unknown;
  DESTRUCTIVE: { path?: string };
  DEVICE_AUTH_DEVICE_ID_MISMATCH: { reason?: string };
  DEVICE_AUTH_NONCE_MISMATCH: { reason?: string };
  DEVICE_AUTH_NONCE_REQUIRED: { reason?: string };
  DEVICE_AUTH_PUBLIC_KEY_INVALID: { reason?: string };
  DEVICE_AUTH_SIGNATURE_EXPIRED: { reason?: string };
  DEVICE_AUTH_SIGNATURE_INVALID: { reason?: string };
  DEVICE_IDENTITY_REQUIRED: unknown;
  DEVICE_LIMIT: unknown;
  DEVICE_NOT_OWN: unknown;
  DRAINING: unknown;
  EMPTY_RESPONSE: unknown;
  INTERNAL: unknown;
  INTERRUPTED: unknown;
  INVALID_MODEL: { model?: string; closest?: string };
  INVALID_REQUEST: unknown;
  MEMORY_PRESSURE: unknown;
  MISSING_SCOPE: { missingScope?: string; requiredScopes?: Array<string> };
  MODEL_NOT_ALLOWED: { model?: string; agentId?: string };
  NETWORK: unknown;
  NOT_LOCAL: unknown;
  NO_MODEL: unknown;
  NO_ROUTE: unknown;
  OVERLOADED: unknown;
  PAIRING_REQUIRED: { reason?: string; requestId?: string; remediationHint?: string; deviceId?: string; requestedRole?: string; requestedScopes?: Array<string>; approvedRoles?: Array<string>; approvedScopes?: Array<string> };
  PLUGIN_NOT_RUNNING: { plugin?: string };
  PROTOCOL_MISMATCH: { clientMinProtocol?: number; clientMaxProtocol?: number; expectedProtocol?: number };
  QUOTA: unknown;
  RATE_LIMIT: unknown;
  RATE_LIMITED: { method?: string; limit?: string };
  REFUSAL: unknown;
  SCOPES_EXCEED_TOKEN: unknown;
  SECRETS_RELOAD_REJECTED: unknown;
  SESSION_MISSING: unknown;
  STORAGE: unknown;
  STORAGE_BUSY: unknown;
  STORAGE_UNAVAILABLE: { reason?: string };
  TIMEOUT: unknown;
  TOO_MANY_SUBSCRIPTIONS: unknown;
  TURN_LIMIT: unknown;
  UNKNOWN_AGENT_ID: { agentId?: string };
  UNKNOWN_CHANNEL: { channel?: string };
  UNKNOWN_DEVICE_ID: unknown;
  UNKNOWN_DEVICE_ROLE: { role?: string };
  UNKNOWN_REQUEST_ID: unknown;
  proxy_attribution_required: { authReason?: string };
}

/** Fields of `error.details` of errors that have no `details.code`. */
export type DetailsWithoutCode = { path?: string; issues?: Array<{ path: string; message: string }>; reason?: string; maxBytes?: number; type?: string; currentHash?: string | null; channel?: string; account?: string };
