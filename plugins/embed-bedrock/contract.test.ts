import { type ContractCase, createTestRequests, embeddingCases, embeddingContext, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe, test } from "vitest";
import { startFakeBedrock } from "../../test/fakes/embedding-bedrock.ts";
import { createBedrockAdapter } from "./adapter.ts";

const vendor = await startFakeBedrock();
const env = {
  HOME: "/nonexistent",
  AWS_ACCESS_KEY_ID: vendor.identity.accessKeyId,
  AWS_SECRET_ACCESS_KEY: vendor.identity.secretAccessKey,
};
const requests = createTestRequests();
const { adapter, close } = createBedrockAdapter({ env, request: requests.request });
const remote = { baseUrl: vendor.url };
/** Open as long as the cases are, so that their thread with its AWS client starts once. */
const held = await adapter.create(embeddingContext({ remote }));

afterAll(async () => {
  await held.provider.close?.();
  await close();
  await requests.close();
  await vendor.close();
});

const [titan, cohere] = ["amazon.titan-embed-text-v2:0", "us.cohere.embed-v4:0"];
const isLong = process.env.SVC_TEST_LONG === "1";

describe(titan, () => {
  embeddingContract(adapter, { context: { model: titan, remote } });
});

// A status says the same whatever the model is; requests and answers differ.
const isOfAll = ({ name }: ContractCase) => / of the vendor|cannot be reached|silent vendor/.test(name);

describe(cohere, () => {
  const cases = embeddingCases(adapter, { context: { model: cohere, remote } });
  for (const one of cases.filter((each) => isLong || !isOfAll(each))) test(one.name, () => one.run());
});
