import { createTestGateway, eventually, fakeClock, type HttpRecorder, recordHttp } from "svc/sdk/testing";
import { expect, test } from "vitest";

const plugins = ["model-openai-compatible"];

test("the client of model calls is loaded before the first call, and only where a provider needs it", async () => {
  const clock = fakeClock();
  const network = recordHttp();
  const loads: string[] = [];
  const http: HttpRecorder = {
    ...network,
    request(url, options) {
      loads.push(`${url} ${options?.signal?.aborted ? "ended" : "under way"}`);
      return network.request(url, options);
    },
  };
  const withoutKey = { mistral: {} };
  const gw = await createTestGateway({ plugins, clock, http, config: { models: { providers: withoutKey } } });
  try {
    for (let i = 0; i < 100; i++) await clock.advance(1_000);
    expect(loads).toEqual([]);

    const lab = { baseUrl: "http://lab.example/v1", models: [{ id: "ok" }] };
    await gw.reload({ models: { providers: { ...withoutKey, lab } } });
    await eventually(async () => {
      await clock.advance(1_000);
      return loads.length > 0;
    });
    expect(loads).toEqual(["http://rehearsal.invalid/ ended"]);
    expect(network.requests).toEqual([]);
  } finally {
    await gw.close();
  }
});
