import { parentPort, workerData } from "node:worker_threads";
import { readPage } from "./article.ts";
import type { PageAnswer, PageJob } from "./page-job.ts";

// One thread reads one page: what a stranger's page leaves behind ends with it. Imports nothing of the SDK, which would take longer to load.
parentPort?.postMessage(await answer(workerData as PageJob));

async function answer(job: PageJob): Promise<PageAnswer> {
  try {
    return await readPage(job);
  } catch (error) {
    return { failure: error instanceof Error ? error.message.slice(0, 200) : "unknown reason" };
  }
}
