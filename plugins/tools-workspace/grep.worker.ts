import { parentPort, workerData } from "node:worker_threads";
import { type FileToMatch, matchLines } from "./grep-match.ts";

const { source, context } = workerData as { source: string; context: number };
const pattern = new RegExp(source);

parentPort?.on("message", (file: FileToMatch) => parentPort?.postMessage(matchLines(file, { pattern, context })));
