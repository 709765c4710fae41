import { parentPort, workerData } from "node:worker_threads";
import { CallFailed, createAwsClient } from "./aws-client.ts";
import type { ClientSettings, EmbedReply, ThreadCall, ThreadMessage, ThreadRequest } from "./client-protocol.ts";
import { MainThreadHandler } from "./main-thread-handler.ts";
import { rawFailureOf } from "./raw-failure.ts";

const port = parentPort;
const post = (message: ThreadMessage, transfer: ArrayBuffer[] = []) => port?.postMessage(message, transfer);
const handler = new MainThreadHandler((message) => post(message));
const client = createAwsClient(workerData as ClientSettings, { handler, warn: (warning) => post({ warning }) });
const open = new Map<number, AbortController>();

port?.on("message", (request: ThreadRequest) => {
  if ("http" in request) return handler.receive(request);
  if ("abort" in request) return open.get(request.abort)?.abort();
  void answer(request.id, request);
});

async function answer(id: number, call: ThreadCall): Promise<void> {
  const stop = new AbortController();
  open.set(id, stop);
  try {
    if ("embed" in call) return send(id, await client.embed(call.embed, stop.signal));
    if ("converse" in call) await client.converse(call.converse, { signal: stop.signal, onEvent: (event) => post({ id, event }) });
    else await client.resolveCredentials();
    post({ id, reply: { resolved: true } });
  } catch (error) {
    post({ id, failure: error instanceof CallFailed ? error.failure : rawFailureOf(error) });
  } finally {
    open.delete(id);
  }
}

function send(id: number, reply: EmbedReply): void {
  post(
    { id, reply },
    reply.vectors.map((vector) => vector.buffer as ArrayBuffer),
  );
}
