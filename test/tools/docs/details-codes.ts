/**
 * Codes of `error.details.code` that are chosen when the error is made, by the error that carries them, with what they mean; all others stand in the tables of
 * `defineErrors`. Clients branch on these and never on messages, so a code is not renamed.
 */
export const chosenDetailsCodes = {
  unauthorized: {
    AUTH_TOKEN_MISSING: "no gateway token was sent",
    AUTH_TOKEN_MISMATCH: "the gateway token is wrong",
    AUTH_PASSWORD_MISSING: "no gateway password was sent",
    AUTH_PASSWORD_MISMATCH: "the gateway password is wrong",
    AUTH_DEVICE_TOKEN_MISMATCH: "the device token is unknown or was revoked",
    AUTH_SCOPE_MISMATCH: "the device token does not hold the requested scopes",
    AUTH_BOOTSTRAP_TOKEN_MISMATCH: "the bootstrap token is not valid",
    AUTH_CHANGED: "the right to be connected ended: the secret, the mode or the device was changed",
    AUTH_IDENTITY_HEADER_REQUIRED: "the trusted proxy named no user",
    AUTH_PROXY_UNTRUSTED: "the peer is not a trusted proxy",
    AUTH_PROXY_LOOPBACK_NOT_ALLOWED: "a proxy on the gateway's machine is not allowed",
    AUTH_PROXY_OWN_ADDRESS: "the peer has an address of the gateway's machine, and no proxy runs there",
    AUTH_PROXY_HEADER_MISSING: "a header that the trusted proxy has to send is missing",
    AUTH_PROXY_USER_AMBIGUOUS: "the trusted proxy named more than one user",
    AUTH_PROXY_USER_NOT_ALLOWED: "this user is not allowed through the proxy",
  },
  "device-auth": {
    DEVICE_AUTH_PUBLIC_KEY_INVALID: "the public key is not valid",
    DEVICE_AUTH_DEVICE_ID_MISMATCH: "the device id is not that of the key",
    DEVICE_AUTH_SIGNATURE_EXPIRED: "the signature was made too long ago, or the clocks differ",
    DEVICE_AUTH_NONCE_REQUIRED: "the nonce of the challenge was not sent",
    DEVICE_AUTH_NONCE_MISMATCH: "the nonce is not that of this socket",
    DEVICE_AUTH_SIGNATURE_INVALID: "the signature is not that of the key",
  },
  // how a run ended
  "run-failed": {
    TIMEOUT: "the run did not finish in time, or the model did not",
    ABORTED: "the run was stopped",
    INTERRUPTED: "the gateway stopped during the run",
    EMPTY_RESPONSE: "the model answered with nothing",
    REFUSAL: "the model's vendor withheld the answer",
    NO_MODEL: "no language model is available",
    TURN_LIMIT: "the run used up its turns or tool calls",
    STORAGE: "the state database could not be written",
    INTERNAL: "the run failed for another reason",
    AUTH: "the model's vendor refused the key",
    QUOTA: "the account at the model's vendor has no credit left",
    RATE_LIMIT: "the model's vendor limits requests",
    OVERLOADED: "the model's vendor is overloaded",
    NETWORK: "the model could not be reached",
    CONTEXT_OVERFLOW: "the conversation is too long for the model",
    INVALID_REQUEST: "the model's vendor could not read the request",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
