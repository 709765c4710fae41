import { createParser } from "eventsource-parser";
import { type ModelDelta, ModelError } from "svc/sdk";
import { createDeltaReader } from "svc/sdk/internal";
import { createChunkReader } from "./chunks.ts";

/** Deltas that go on together: enough that the way there costs little, and no more than the readers behind them hold apart. */
const MAX_TOGETHER = 64;
/** Longest event, should the limits of the whole answer (`answerLimits` of the SDK) have let it pass. */
const MAX_EVENT_CHARS = 2 * 1024 * 1024;

/**
 * The deltas of an answer of the chat completions protocol, as they arrive: those of one piece of its body together.
 * @param provider id of the provider
 * @throws {ModelError}; the vendor's own error, as it came. What stands before it in the answer comes first
 */
export async function* readAnswer(body: AsyncIterable<Uint8Array>, provider: string): AsyncIterable<readonly ModelDelta[]> {
  let deltas: ModelDelta[] = [];
  const chunks = createChunkReader(
    provider,
    createDeltaReader((delta) => deltas.push(delta)),
  );
  const feed = createEventReader((data) => {
    if (data !== "[DONE]") chunks.take(parsed(data, provider));
  });
  const after = function* (step: () => void): Iterable<readonly ModelDelta[]> {
    const failure = failureOf(step);
    const read = deltas;
    deltas = [];
    if (read.length <= MAX_TOGETHER) {
      if (read.length > 0) yield read;
    } else for (let at = 0; at < read.length; at += MAX_TOGETHER) yield read.slice(at, at + MAX_TOGETHER);
    if (failure) throw failure.error;
  };
  for await (const bytes of body) yield* after(() => feed(bytes));
  yield* after(() => chunks.end());
}

function failureOf(step: () => void): { error: unknown } | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Reads server-sent events, of which only the data counts. */
export function createEventReader(onData: (data: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data }) => onData(data),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw new ModelError("network", "an event of the server is larger than expected");
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  let endsWithReturn = false;
  return (bytes) => {
    let text = decoder.decode(bytes, { stream: true });
    if (endsWithReturn && text.startsWith("\n")) text = text.slice(1);
    else if (text === "") return;
    endsWithReturn = text.endsWith("\r");
    // The parser looks for the next return from each line on, however far away it is; lines that end in one are rare.
    parser.feed(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
  };
}

function parsed(data: string, provider: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ModelError("network", `provider "${provider}": the answer could not be understood`);
  }
}
