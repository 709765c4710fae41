import { eventually } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { method, usePluginGateway } from "./_plugin-gateway.ts";
import { gate, sharedWithPlugins } from "./_plugins.ts";

const own = usePluginGateway();
const provider = (word: string, more = "") => ({
  manifest: { provides: ["words@1"] },
  setup: `ctx.registerService("words@1", { say: async (to) => "${word} " + to, deep: { say: () => "deep ${word}" }, ${more} });`,
});

describe("a service that was looked up once", () => {
  const keeper = {
    manifest: { requires: ["words@1"] },
    setup: `const words = ctx.service("words@1"); ${method("keeper.ask", `[await words.say("you"), words.deep.say()]`)}`,
  };

  test("is found anew at each call: the next provider answers, the user is not restarted", async () => {
    await own.start({ plugins: [await own.write("words", provider("old")), await own.write("keeper", keeper)] });
    expect(await own.ask("keeper.ask")).toEqual(["old you", "deep old"]);
    const before = own.record("keeper").instance;

    await own.write("words", provider("new"));
    await own.reload("words");

    expect(await own.ask("keeper.ask")).toEqual(["new you", "deep new"]);
    expect(own.record("keeper").instance).toBe(before);
  });

  test("is unavailable while its provider is off, and back with it", async () => {
    await own.start({ plugins: [await own.write("words", provider("old")), await own.write("keeper", keeper)] });

    await own.gateway.reload({ plugins: { entries: { words: { enabled: false } } } });
    await expect(own.ask("keeper.ask")).rejects.toThrow('service "words@1" is not available');
    expect(own.record("keeper").state).toBe("active");

    await own.gateway.reload({ plugins: { entries: { words: { enabled: true } } } });
    expect(await own.ask("keeper.ask")).toEqual(["old you", "deep old"]);
  });

  test("holds its provider's old instance as long as a call of it is under way", async () => {
    const held = gate();
    const shared = sharedWithPlugins({ held: held.opened, entered: 0, stopped: 0 });
    const slow = provider("old", `slow: async () => { shared.entered++; await shared.held; return "done"; }`);
    const plugins = [
      await own.write("words", { ...slow, setup: `${slow.setup} return { stop() { shared.stopped++; } };` }),
      await own.write("keeper", { setup: method("keeper.slow", `await ctx.service("words@1").slow()`) }),
    ];
    await own.start({ plugins });
    const call = own.ask("keeper.slow");
    await eventually(() => shared.entered === 1);

    await own.reload("words");
    expect(shared.stopped).toBe(0);
    held.open();

    expect(await call).toBe("done");
    await eventually(() => shared.stopped === 1);
  });
});

test("only a plugin that asked for it is renewed when a service changes hands", async () => {
  const plugins = [
    await own.write("words", provider("old")),
    await own.write("follower", { manifest: { requires: ["words@1"], reload: { restartOnServiceChange: ["words@1"] } } }),
    await own.write("keeper", { manifest: { requires: ["words@1"] } }),
  ];
  await own.start({ plugins });
  const [follower, keeper] = [own.record("follower").instance, own.record("keeper").instance];

  await own.reload("words");

  await eventually(() => own.record("follower").instance === follower + 1);
  expect(own.record("keeper").instance).toBe(keeper);
});
