import { expect, test } from "vitest";
import { rootSchema } from "../../kernel/config/root-schema.ts";
import { perSnapshot } from "./per-snapshot.ts";

test("what is made from a snapshot is made once, and again for the next one", () => {
  let snapshot = rootSchema.parse({});
  let made = 0;
  const read = perSnapshot(
    () => snapshot,
    (config) => ({ n: ++made, scope: config.session.scope }),
  );
  expect(made).toBe(0);
  expect(read()).toBe(read());
  snapshot = rootSchema.parse({ session: { scope: "global" } });
  expect(read()).toEqual({ n: 2, scope: "global" });
});
