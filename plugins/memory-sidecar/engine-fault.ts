export type EngineFaultKind =
  | "missing"
  | "not-started"
  | "timed-out"
  | "too-much-output"
  | "killed"
  /** It ended with another code than 0. */
  | "failed"
  /** Its output is not what it should be. */
  | "garbled";

/** A command of the engine that gave no answer. */
export class EngineFault extends Error {
  readonly kind: EngineFaultKind;
  /** Last words of a command that failed. */
  readonly output: string;

  constructor(kind: EngineFaultKind, message: string, output = "") {
    super(message);
    this.name = "EngineFault";
    this.kind = kind;
    this.output = output;
  }
}
