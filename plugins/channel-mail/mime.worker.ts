import { parentPort } from "node:worker_threads";
import { type PostalMime, parseMail } from "./mime.ts";

/** A mail to parse, and where the library is. */
export interface ParseRequest {
  id: number;
  library: string;
  raw: Uint8Array;
  isCut: boolean;
}

// Imports nothing of the SDK, which would take longer to load than most mails to parse.
parentPort?.on("message", (request: ParseRequest) => void answer(request));

async function answer({ id, library, raw, isCut }: ParseRequest): Promise<void> {
  try {
    const { default: postal, addressParser } = (await import(library)) as {
      default: PostalMime;
      addressParser: PostalMime["addressParser"];
    };
    const mail = await parseMail(raw, { parse: (bytes, options) => postal.parse(bytes, options), addressParser }, isCut);
    parentPort?.postMessage({ id, mail });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}
