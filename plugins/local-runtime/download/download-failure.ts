import type { ProcessFault } from "../messages.ts";

/** Why a model did not come. `fault`: as that of the process that runs models. */
export class DownloadFailure extends Error {
  readonly fault: Extract<ProcessFault["fault"], "auth" | "model" | "network">;
  /** Asking again may help. */
  readonly isPassing: boolean;
  constructor(
    fault: DownloadFailure["fault"],
    message: string,
    { isPassing = false, cause }: { isPassing?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.fault = fault;
    this.isPassing = isPassing;
  }
}
