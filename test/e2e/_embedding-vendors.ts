import type { SvcConfigInput } from "svc/sdk";
import { startFakeBedrock } from "../fakes/embedding-bedrock.ts";
import { createFakeGeminiEmbeddings } from "../fakes/embedding-gemini.ts";
import { createFakeOllama } from "../fakes/embedding-ollama.ts";
import { createFakeMistralEmbeddings, createFakeOpenAiEmbeddings, createFakeVoyageEmbeddings } from "../fakes/embedding-openai.ts";
import type { FakeEmbeddings } from "../fakes/embedding-server.ts";

/** Fault of a vendor, in a form that fits all of them. */
export type Trouble =
  | { status: number; message: string; headers?: Record<string, string> }
  | "reset"
  | "hang"
  | "truncated"
  | "wrong-count"
  | "wrong-dims"
  | "nan";

export type MemorySearchConfig = NonNullable<NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"]>;

/** A vendor that runs, as a test of the gateway needs it. */
export interface Vendor {
  /** Value of `memorySearch.remote` for it. */
  remote: { baseUrl: string; apiKey?: string };
  /** Entry under `models.providers` for it. */
  entry: { id: string; baseUrl: string; apiKey?: string };
  /** Variables of the gateway. */
  env: Record<string, string>;
  /** Texts that no answer, log or status may show, and no other vendor may get. */
  secrets: string[];
  /** Secrets among them that requests show. */
  shown: string[];
  /** Every request fails like this until it is called without a trouble. */
  fail(trouble?: Trouble): void;
  /** Address, headers and body of everything that arrived, as text. */
  seen(): string[];
  close(): Promise<void>;
}

/** The remote adapters, each with a fake of its vendor. */
export const vendors = {
  openai: async () => asVendor("openai", await createFakeOpenAiEmbeddings({ apiKey: keyOf("openai") })),
  gemini: async () => asVendor("google", await createFakeGeminiEmbeddings({ apiKey: keyOf("google") })),
  voyage: async () => asVendor("voyage", await createFakeVoyageEmbeddings({ apiKey: keyOf("voyage") })),
  mistral: async () => asVendor("mistral", await createFakeMistralEmbeddings({ apiKey: keyOf("mistral") })),
  bedrock: async () => {
    const fake = await startFakeBedrock({ sessionToken: "session/of+the+gateway==" });
    const setOutage = (trouble?: Trouble) => {
      fake.outage = trouble === "nan" ? "not-a-number" : trouble;
    };
    const { accessKeyId, secretAccessKey, sessionToken = "" } = fake.identity;
    return {
      ...vendorOf(fake, { id: "amazon-bedrock", baseUrl: fake.url }, setOutage),
      env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken },
      secrets: [accessKeyId, secretAccessKey, sessionToken],
      shown: [accessKeyId, sessionToken],
    };
  },
  ollama: async () => asVendor("ollama", await createFakeOllama({ apiKey: keyOf("ollama"), isLocked: true })),
} satisfies Record<string, () => Promise<Vendor>>;

export type VendorId = keyof typeof vendors;

function keyOf(id: string): string {
  // Looks like no key, so that only who knows it can hide it.
  return `sesame${id}0123456789`;
}

function asVendor(id: string, fake: FakeEmbeddings): Vendor {
  return vendorOf(fake, { id, baseUrl: fake.url, apiKey: fake.apiKey }, (trouble) => fake.always(trouble ?? "ok"));
}

interface Fake {
  requests: ReadonlyArray<{ path: string; headers: unknown; body: unknown }>;
  close(): Promise<void>;
}

function vendorOf(fake: Fake, entry: Vendor["entry"], fail: Vendor["fail"]): Vendor {
  const { baseUrl, apiKey } = entry;
  const secrets = apiKey === undefined ? [] : [apiKey];
  return {
    entry,
    remote: { baseUrl, ...(apiKey === undefined ? {} : { apiKey }) },
    env: {},
    secrets,
    shown: secrets,
    fail,
    seen: () => fake.requests.map(({ path, headers, body }) => JSON.stringify([path, headers, body])),
    close: () => fake.close(),
  };
}
