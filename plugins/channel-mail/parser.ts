import type { Worker } from "node:worker_threads";
import { type PluginVendor, startWorker, workerUrl } from "svc/sdk";
import type { ParsedMail } from "./mime.ts";
import type { ParseRequest } from "./mime.worker.ts";

/** Heap of the thread; the bytes of mails lie outside of it. */
const MAX_HEAP_MB = 256;

interface ParserOptions {
  vendor: PluginVendor;
  /** Longest time for one mail; the thread is ended after it. */
  limitMs: number;
}

/** Parses mails one after the other in a thread of its own: a mail of a stranger may take long, or never come to an end. */
export class MailParser {
  readonly #options: ParserOptions;
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: ParserOptions) {
    this.#options = options;
  }

  /**
   * @param isCut the bytes are only the beginning of the mail
   * @throws {MailTooHard} when the mail ended the thread, or took too long
   * @throws {SvcError} `missing-dependency`
   */
  async parse(raw: Uint8Array, isCut: boolean): Promise<ParsedMail> {
    const library = await this.#options.vendor.resolve("postal-mime");
    const parsed = this.#queue.then(() => this.#parse({ id: ++this.#lastId, library, raw, isCut }));
    this.#queue = parsed.catch(() => undefined);
    return parsed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #parse(request: ParseRequest): Promise<ParsedMail> {
    if (this.#isClosed) throw new Error("the account is stopped");
    const worker = this.#open();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(late);
        worker.off("message", onMessage).off("exit", onExit);
        settle();
      };
      const onMessage = (answer: { id: number; mail?: ParsedMail; error?: string }) => {
        if (answer.id !== request.id) return;
        const { mail } = answer;
        end(() => (mail ? resolve(mail) : reject(new MailTooHard(answer.error ?? "no reason given"))));
      };
      const onExit = () => end(() => reject(this.#isClosed ? new Error("the account is stopped") : new MailTooHard("it ended its parser")));
      const late = setTimeout(() => {
        end(() => reject(new MailTooHard(`parsing took longer than ${this.#options.limitMs / 1_000} s`)));
        if (this.#worker === worker) this.#worker = undefined;
        void worker.terminate();
      }, this.#options.limitMs);
      worker.on("message", onMessage).once("exit", onExit);
      worker.postMessage(request);
    });
  }

  #open(): Worker {
    if (this.#worker) return this.#worker;
    const worker = startWorker(workerUrl(import.meta.url, "mime.worker"), { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    worker.unref();
    // `exit` follows, and ends the mail that it was about.
    worker.on("error", () => undefined);
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }
}

/** The mail cannot be parsed; another try would end in the same way. */
export class MailTooHard extends Error {}
