/** A stream of the process that a person or a program reads. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** The two standard streams of a process, guarded: a reader that goes away or stops reading throws nowhere and fills no memory. */
export interface StandardOutput {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted when stdout has failed for the first time. */
  readonly closed: AbortSignal;
  /** Error code of a stdout that could not be written for another reason than a reader that left. */
  fault(): string | undefined;
  /** Resolves when everything written has left the process, or has failed. */
  flushed(): Promise<void>;
  /** From now on `flushed` waits a moment only: a reader that has stopped reading must not keep a gateway from ending. */
  hurry(): void;
  /** Calls the listener each time one of the streams begins to lose text. */
  onLoss(listener: (message: string) => void): () => void;
}
