import { join } from "node:path";
import { createTestGateway, pluginContract } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { greet } from "./greet.ts";

const folder = join(import.meta.dirname, "..");

describe("the plugin", () => {
  pluginContract(folder);
});

test("greets nobody in particular too", () => {
  expect(greet("Hello", "  ")).toBe("Hello, you!");
});

test("answers clients with the greeting of its config", async () => {
  const config = { plugins: { entries: { hello: { config: { greeting: "Moin" } } } } };
  const gateway = await createTestGateway({ plugins: [folder], config });

  expect(await gateway.rpc("hello.greet", { name: "Ada" })).toEqual({ text: "Moin, Ada!" });
  await expect(gateway.rpc("hello.greet", { name: 7 })).rejects.toThrow("invalid hello.greet params");
  await gateway.close();
});

test("shows in the control UI whom it greeted", async () => {
  const gateway = await createTestGateway({ plugins: [folder] });

  await gateway.rpc("hello.greet", { name: "Ada" });
  expect(await gateway.rpc("hello.ui.greetings")).toMatchObject({
    title: "Greetings",
    blocks: [{ value: "once" }, { rows: [["Hello, Ada!"]] }, { method: "hello.greet" }],
  });
  await gateway.close();
});
