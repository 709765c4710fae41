import { downloadFault, Fault, messageOf } from "./fault.ts";
import type { LlamaLibrary } from "./llama-library.ts";
import type { OpenRequest } from "./messages.ts";

interface FindOptions {
  signal: AbortSignal;
  /** `totalBytes` is 0 while it is not known. */
  onDownload(progress: { doneBytes: number; totalBytes: number }): void;
}

/** Path of the model file; downloads it only on request. @throws {Fault} `not-ready`, `auth`, `model`, `network` */
export async function findModel(
  library: LlamaLibrary,
  { model, directory, download }: OpenRequest,
  { signal, onDownload }: FindOptions,
): Promise<string> {
  const where = { ...(directory === undefined ? {} : { directory }), cli: false } as const;
  try {
    return await library.resolveModelFile(model, { ...where, download: false });
  } catch (error) {
    if (!download) throw new Fault("not-ready", messageOf(error));
  }
  onDownload({ doneBytes: 0, totalBytes: 0 });
  const onProgress = ({ downloadedSize, totalSize }: { downloadedSize: number; totalSize: number }) =>
    onDownload({ doneBytes: downloadedSize, totalBytes: totalSize });
  try {
    // A cancelled download keeps its bytes: the next attempt resumes from there.
    return await library.resolveModelFile(model, { ...where, download: "auto", deleteTempFileOnCancel: false, onProgress, signal });
  } catch (error) {
    throw new Fault(downloadFault(error), `the model cannot be downloaded: ${messageOf(error)}`);
  }
}
