import type { AnswerLimits } from "svc/sdk/internal";

/** An answer line by line; `lines.ts` limits each line. */
export const streamLimits: AnswerLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxEventBytes: Number.POSITIVE_INFINITY,
  maxEventParts: Number.POSITIVE_INFINITY,
};

/** An answer that is no success, in the form that faults are read from. */
export async function refused(response: Response): Promise<Error> {
  return Object.assign(new Error("refused"), {
    statusCode: response.status,
    responseBody: await response.text().catch(() => ""),
    responseHeaders: Object.fromEntries(response.headers),
  });
}
