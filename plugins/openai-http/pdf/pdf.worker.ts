import { parentPort, workerData } from "node:worker_threads";
import { extractPdf, NoCanvas } from "./extract.ts";
import type { PdfAnswer, PdfFailure, PdfJob } from "./job.ts";
import { guardMemory } from "./memory-guard.ts";

// One thread reads one PDF: what a stranger's file leaves behind ends with it. Imports nothing of the SDK, which would take longer to load.
const job = workerData as PdfJob;
const wantsTooMuch = guardMemory(job.maxMemoryBytes);
parentPort?.postMessage(await answer());

async function answer(): Promise<PdfAnswer> {
  try {
    const content = await extractPdf(job);
    // PDF.js leaves out what it cannot decode, without a word.
    return wantsTooMuch() ? { failure: { kind: "too-large", detail: "memory" } } : { content };
  } catch (error) {
    return { failure: toFailure(error) };
  }
}

function toFailure(error: unknown): PdfFailure {
  const { name, message } = error instanceof Error ? error : { name: "", message: String(error) };
  const detail = `${name}: ${message.slice(0, 200)}`;
  if (error instanceof NoCanvas) return { kind: "no-canvas", detail };
  if (wantsTooMuch()) return { kind: "too-large", detail };
  return { kind: name === "PasswordException" ? "encrypted" : "damaged", detail };
}
