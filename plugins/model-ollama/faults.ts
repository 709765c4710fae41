import type { FaultRules } from "svc/sdk/internal";

const overflow = /exceeds? (the )?(available |maximum )?context|input length exceeds/i;

/** Errors are a sentence, `{"error": "…"}`, and the status does not always fit it (`server/routes.go` of ollama/ollama). */
export const faults: FaultRules = {
  faultOf({ words }) {
    const text = words.message ?? "";
    if (overflow.test(text)) return "context_overflow";
    if (/^model .* not found/i.test(text)) return "model_not_found";
    if (/server busy|maximum pending requests/i.test(text)) return "overloaded";
    return undefined;
  },
};

/** A line of an answer that is an error, as if it had come with the status that fits it. Pure. */
export function lineError(text: string, status: unknown): Error {
  const fitting = /does not support|invalid/i.test(text) ? 400 : /not found/i.test(text) ? 404 : /server busy/i.test(text) ? 503 : 500;
  const statusCode = typeof status === "number" && status >= 400 && status < 600 ? status : fitting;
  return Object.assign(new Error("the server reported an error"), { statusCode, responseBody: JSON.stringify({ error: text }) });
}

/** Lesson of a refusal about the field `think`. */
export function refusalOfThinking(error: unknown): "none" | "plain" | undefined {
  const { statusCode, responseBody = "" } = error as { statusCode?: number; responseBody?: string };
  if (statusCode !== 400) return undefined;
  if (/does not support thinking/i.test(responseBody)) return "none";
  // Older servers know true and false, and no levels.
  return /invalid think value|ChatRequest\.think|think value/i.test(responseBody) ? "plain" : undefined;
}
