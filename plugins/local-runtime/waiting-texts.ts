import { EmbeddingError } from "svc/sdk";

export type TextKind = "query" | "document";

/** A text whose turn has come. Settling it twice, or after its caller left, does nothing. */
export interface WaitingText {
  readonly text: string;
  readonly kind: TextKind;
  resolve(vector: Float32Array): void;
  reject(error: unknown): void;
}

/** Texts that wait for a model that computes one at a time. */
export interface WaitingTexts {
  /** @param signals each of them takes the text out again @throws {EmbeddingError} `overloaded` beyond 1,000 */
  add(text: string, kind: TextKind, signals: readonly AbortSignal[]): Promise<Float32Array>;
  /** The oldest query, else the oldest document. */
  take(): WaitingText | undefined;
  /** All that wait, or those of one kind. */
  reject(error: unknown, kind?: TextKind): void;
}

/** Callers embed one text after another, so each waiting text is another caller. */
const MAX_WAITING = 1_000;

export function createWaitingTexts(): WaitingTexts {
  let waiting: WaitingText[] = [];
  return {
    add(text, kind, signals) {
      if (waiting.length >= MAX_WAITING) {
        return Promise.reject(new EmbeddingError("overloaded", `local: ${MAX_WAITING} texts are waiting for the model; try again shortly`));
      }
      const aborted = signals.find((signal) => signal.aborted);
      if (aborted) return Promise.reject(aborted.reason);
      return new Promise((resolve, reject) => {
        const stopListening = () => {
          for (const signal of signals) signal.removeEventListener("abort", leave);
        };
        const settle =
          <T>(end: (value: T) => void) =>
          (value: T) => {
            stopListening();
            end(value);
          };
        const one: WaitingText = { text, kind, resolve: settle(resolve), reject: settle(reject) };
        function leave(): void {
          waiting = waiting.filter((other) => other !== one);
          one.reject(signals.find((signal) => signal.aborted)?.reason);
        }
        for (const signal of signals) signal.addEventListener("abort", leave, { once: true });
        waiting.push(one);
      });
    },
    take() {
      const query = waiting.findIndex(({ kind }) => kind === "query");
      return waiting.splice(Math.max(0, query), 1)[0];
    },
    reject(error, kind) {
      const leaving = waiting.filter((one) => kind === undefined || one.kind === kind);
      waiting = waiting.filter((one) => !leaving.includes(one));
      for (const one of leaving) one.reject(error);
    },
  };
}
