import { defineErrors, type SvcError } from "svc/sdk";

/** Codes of this plugin; clients see the texts. */
export const openAiHttpErrors = defineErrors({
  "v1-bad-request": { message: "{message}", http: 400, rpc: "INVALID_REQUEST" },
  "v1-model-not-found": { message: "Model '{model}' not found.", http: 404, rpc: "INVALID_REQUEST" },
  "v1-previous-response-not-found": {
    message:
      "Previous response '{id}' was not found: it is unknown, older than 30 minutes, of another caller, or its session has begun anew.",
    http: 404,
    rpc: "INVALID_REQUEST",
  },
});

/** A request that cannot be understood or is out of range; answered with 400 and this message. */
export function badRequest(message: string): SvcError {
  return openAiHttpErrors.v1BadRequest({ message });
}
