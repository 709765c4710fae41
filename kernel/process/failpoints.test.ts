import { afterEach, expect, test } from "vitest";
import { reached, setFailpoint } from "../../sdk/failpoint.ts";
import { armFailpoints } from "./failpoints.ts";

afterEach(() => setFailpoint(undefined));

test("an armed point throws the code it names, at the time it names, once", async () => {
  armFailpoints({ SVC_TEST: "1", SVC_FAILPOINT: "a.one=ENOSPC@2; a.two=EIO" });
  await reached("a.one");
  await expect(reached("a.one")).rejects.toMatchObject({ code: "ENOSPC" });
  await reached("a.one");
  await expect(reached("a.two")).rejects.toMatchObject({ code: "EIO" });
  await reached("a.three");
});

test.each([
  { SVC_FAILPOINT: "a=EIO" },
  { SVC_TEST: "0", SVC_FAILPOINT: "a=EIO" },
  { SVC_TEST: "1", SVC_FAILPOINT: "nonsense" },
  { SVC_TEST: "1" },
])("nothing is armed by %j", async (env) => {
  armFailpoints(env);
  await reached("a");
});
