import { parentPort, workerData } from "node:worker_threads";
import { pageAnswer } from "./article.ts";
import type { PageJob } from "./page-job.ts";

// One thread reads one page: what a stranger's page leaves behind ends with it. Imports nothing of the SDK, which would take longer to load.
parentPort?.postMessage(await pageAnswer(workerData as PageJob));
