import { embeddingContext } from "svc/sdk/testing";
import { expect, test } from "vitest";
import type { ClientThreads, ThreadOptions } from "./client-threads.ts";
import { createConversations } from "./conversations.ts";

const vendors = "https://bedrock-runtime.eu-west-1.amazonaws.com";
const token = "key-of-the-environment";

/** Start options of the thread that a connection would have. */
async function leased(
  options: { baseUrl?: string; apiKey?: string; headers?: Record<string, string> },
  env: Record<string, string> = {},
): Promise<ThreadOptions> {
  const leases: ThreadOptions[] = [];
  const threads = { lease: (made: ThreadOptions) => void leases.push(made) } as unknown as ClientThreads;
  const service = createConversations({ env, request: () => Promise.reject(new Error("nobody asks")), threads });
  await service.open({ headers: {}, silenceMs: 5, logger: embeddingContext({}).logger, ...options });
  return leases[0] as ThreadOptions;
}

test.each<[address: string | undefined, own: string | undefined, shown: string | undefined]>([
  [undefined, undefined, token],
  [undefined, "mine", "mine"],
  [vendors, undefined, token],
  ["https://bedrock.example", undefined, undefined],
  ["http://bedrock-runtime.eu-west-1.amazonaws.com", undefined, undefined],
  ["https://bedrock.example", "mine", "mine"],
])("at %s with the key %s, %s is shown", async (baseUrl, apiKey, shown) => {
  const options = { ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) };
  const { env } = await leased(options, { AWS_BEARER_TOKEN_BEDROCK: token, HOME: "/h" });
  expect(env.AWS_BEARER_TOKEN_BEDROCK).toBe(shown);
  expect(env).toMatchObject({ HOME: "/h" });
  expect(env).not.toHaveProperty("AWS_EC2_METADATA_DISABLED");
});

test.each([
  [{}, {}, { region: "us-east-1" }],
  [{ baseUrl: vendors }, {}, { region: "eu-west-1", endpoint: vendors }],
  [{ baseUrl: vendors }, { AWS_REGION: "eu-west-3" }, { region: "eu-west-3", endpoint: vendors }],
])("the place of %j with %j is %j, with headers and the silence that is asked for", async (options, env, place) => {
  const made = await leased({ ...options, headers: { "x-team": "t" } }, env);
  expect(made.settings).toEqual({ ...place, headers: { "x-team": "t" } });
  expect(made.silenceMs).toBe(5);
});
