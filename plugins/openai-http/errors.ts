import { defineErrors, type SvcError } from "svc/sdk";

/** Codes of this plugin; clients see the texts. */
export const openAiHttpErrors = defineErrors({
  "v1-bad-request": { message: "{message}", http: 400, rpc: "INVALID_REQUEST" },
  "v1-model-not-found": { message: "Model '{model}' not found.", http: 404, rpc: "INVALID_REQUEST" },
});

/** A request that cannot be understood or is out of range; answered with 400 and this message. */
export function badRequest(message: string): SvcError {
  return openAiHttpErrors.v1BadRequest({ message });
}
