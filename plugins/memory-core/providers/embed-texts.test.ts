import { EmbeddingError, type EmbeddingFault } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { embedTexts } from "./embed-texts.ts";
import type { OpenedProvider } from "./open-provider.ts";
import { createTestHost } from "./test-host.ts";

const long = "long ".repeat(10);

/** Embeds a text that may be too long with a vendor that refuses texts. @returns the code or fault, and how often the vendor was asked */
async function refusal(fault: EmbeddingFault, refuses: (text: string) => boolean, texts: string[]): Promise<[string, number]> {
  let asked = 0;
  const provider = {
    maxInputTokens: 10,
    normalized: true,
    embedBatch: async (some: readonly string[]) => {
      asked++;
      if (some.some(refuses)) throw new EmbeddingError(fault, "refused");
      return some.map(() => new Float32Array([1, 0]));
    },
  };
  const opened = { provider, facts: { id: "acme", model: "acme-1", dims: 2 } } as unknown as OpenedProvider;
  const error = await embedTexts(createTestHost(fakeClock()), opened, { texts, signal: undefined }).catch((e: unknown) => e);
  return [error instanceof EmbeddingError ? error.fault : (error as { code: string }).code, asked];
}

test.each<[string, EmbeddingFault, (text: string) => boolean, string[], [string, number]]>([
  ["one text, refused for its length", "too-long", (t) => t === long, [long], ["embedding-text-too-long", 1]],
  ["one text, refused while a word is not", "invalid-request", (t) => t === long, [long], ["embedding-text-too-long", 2]],
  ["one text, refused like any other", "invalid-request", () => true, [long], ["invalid-request", 2]],
  ["two texts, one of them refused", "invalid-request", (t) => t === long, ["short", long], ["embedding-text-too-long", 3]],
  ["two texts, refused like any other", "invalid-request", () => true, ["short", long], ["invalid-request", 2]],
])("%s (%s)", async (_name, fault, refuses, texts, expected) => {
  expect(await refusal(fault, refuses, texts)).toEqual(expected);
});
