import { definePlugin } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const cookies = ["a=1; Path=/; HttpOnly", "b=2; Expires=Sat, 21 Nov 2026 08:00:00 GMT"];

const baker = definePlugin<unknown>({
  id: "baker",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const route = (path: string, handler: () => Response | Promise<Response>) =>
      ctx.registerHttpRoute({ method: "GET", path, match: "exact", auth: "gateway", handler });
    const baked = (count: number) => {
      const headers = new Headers({ "x-kept": "yes" });
      for (const cookie of cookies.slice(0, count)) headers.append("set-cookie", cookie);
      return new Response("baked", { status: 201, headers });
    };
    route("/one", () => baked(1));
    route("/two", () => baked(2));
    // Headers of an answer that was fetched cannot be changed.
    route("/relayed", () => gateway.fetch("/two"));
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [baker] });
});
afterAll(() => gateway.close());

test.each([
  ["/one", cookies.slice(0, 1)],
  ["/two", cookies],
  ["/relayed", cookies],
])("%s sends each of its cookies once, and the rest of the answer as it is", async (path, expected) => {
  const answer = await gateway.fetch(path);

  expect(answer.headers.getSetCookie()).toEqual(expected);
  expect([answer.status, answer.headers.get("x-kept"), await answer.text()]).toEqual([201, "yes", "baked"]);
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});
