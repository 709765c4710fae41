import { embeddingContext, embeddingContract } from "svc/sdk/testing";
import { afterAll, describe } from "vitest";
import { startFakeBedrock } from "../../test/fakes/embedding-bedrock.ts";
import { createBedrockAdapter } from "./adapter.ts";

const vendor = await startFakeBedrock();
const env = {
  HOME: "/nonexistent",
  AWS_ACCESS_KEY_ID: vendor.identity.accessKeyId,
  AWS_SECRET_ACCESS_KEY: vendor.identity.secretAccessKey,
};
const { adapter, close } = createBedrockAdapter({ env });
const remote = { baseUrl: vendor.url };
/** Open as long as the cases are, so that their thread with its AWS client starts once. */
const held = await adapter.create(embeddingContext({ remote }));

afterAll(async () => {
  await held.provider.close?.();
  await close();
  await vendor.close();
});

describe.each(["amazon.titan-embed-text-v2:0", "us.cohere.embed-v4:0"])("%s", (model) => {
  embeddingContract(adapter, { context: { model, remote } });
});
