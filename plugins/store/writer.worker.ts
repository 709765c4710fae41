import { parentPort, workerData } from "node:worker_threads";
import { visitDeliveries } from "./failpoint.ts";
import { createWriter } from "./writer.ts";
import type { WriterRequest, WriterSetup } from "./writer-messages.ts";

/** Thread entry: one request in, one reply out. What is thrown here ends the thread; its owner starts another. */
const port = parentPort;
if (!port) throw new Error("writer.worker: expected to be started as a worker thread");
const writer = createWriter(workerData as WriterSetup);

port.on("message", async (request: WriterRequest) => {
  const reply = await writer.handle(request);
  if (request.type === "group") {
    writer.visit("store.before-reply");
    visitDeliveries(writer.visit, request.commits, "before-reply");
  }
  port.postMessage(reply);
  if (reply.type === "closed") port.close();
});
