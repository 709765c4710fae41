import { StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import type { StreamPart } from "svc/sdk/internal";
import type { CallDelta } from "./chunk-fields.ts";

/** Most calls of one answer, and longest arguments of those that have no name yet: nobody sees these, so nobody else counts them. */
const MAX_CALLS = 256;
const MAX_UNNAMED_CHARS = 1024 * 1024;

/** Puts the calls of one answer together. */
export interface Calls {
  take(delta: CallDelta): void;
  /** Nothing more comes. */
  end(): void;
}

/** The vendor packages' own parts; the controller of a stream may be given none. */
type Enqueue = (part?: { type: string }) => void;

/** The tracker of the vendor packages, which knows how servers number and name the pieces of calls; a call is shown to it once it has a name. */
export function createCalls(provider: string, put: (part: StreamPart) => void, fault: (what: string) => Error): Calls {
  const metaName = provider.split(".", 1)[0]?.trim() ?? "";
  const unnamed = new Map<number, CallDelta & { text: string }>();
  const named = new Set<number>();
  let count = 0;
  let unnamedChars = 0;

  const enqueue: Enqueue = (part) => {
    if (part?.type === "tool-input-start") {
      count += 1;
      if (count > MAX_CALLS) throw fault(`it called more than ${MAX_CALLS} tools at once`);
    }
    put(part as StreamPart);
  };
  const tracker = new StreamingToolCallTracker<CallDelta>(
    { enqueue },
    {
      extractMetadata: ({ signature }) => (signature ? { [metaName]: { thoughtSignature: signature } } : undefined),
      buildToolCallProviderMetadata: (metadata) => metadata,
    },
  );

  const collect = (index: number, delta: CallDelta) => {
    const pending = unnamed.get(index) ?? { ...delta, text: "" };
    unnamed.set(index, pending);
    if (unnamed.size > MAX_CALLS) throw fault(`it called more than ${MAX_CALLS} tools at once`);
    pending.id ??= delta.id;
    pending.signature ??= delta.signature;
    const { name, arguments: args } = delta.function;
    pending.text += args ?? "";
    unnamedChars += args?.length ?? 0;
    if (unnamedChars > MAX_UNNAMED_CHARS) throw fault("a call of a tool is larger than expected");
    if (name === null) return;
    unnamed.delete(index);
    unnamedChars -= pending.text.length;
    named.add(index);
    show(pending, name);
  };
  const show = ({ text, ...pending }: CallDelta & { text: string }, name: string | null) =>
    tracker.processDelta({ ...pending, function: { name, arguments: text } });

  return {
    take(delta) {
      const { index } = delta;
      if (index === null || named.has(index)) tracker.processDelta(delta);
      else collect(index, delta);
    },
    end() {
      for (const pending of unnamed.values()) show(pending, null);
      unnamed.clear();
      tracker.flush();
    },
  };
}
