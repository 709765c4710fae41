import { storeCases, storeContract } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openPglite } from "../../test/servers/pglite.ts";
import { anyDatabase, needsPostgres } from "../../test/servers/postgres.ts";
import { createSubject, tempSchema } from "../../test/servers/postgres-store.ts";

/** `SVC_TEST_LONG=1`: as many random sequences as for the embedded store. */
const isLong = process.env.SVC_TEST_LONG === "1";

const server = await needsPostgres();

server.describe("the store on PostgreSQL", () => {
  let given: Awaited<ReturnType<typeof anyDatabase>> | undefined;
  beforeAll(async () => {
    given = await anyDatabase();
  });
  afterAll(() => given?.remove());

  storeContract(async () => createSubject(await tempSchema(String(given?.url))), { worlds: isLong ? 200 : 30 });
});

describe("the store's SQL on PGlite", () => {
  let lite: Awaited<ReturnType<typeof openPglite>> | undefined;
  beforeAll(async () => {
    lite = await openPglite();
  }, 90_000);
  afterAll(() => lite?.close());

  const cases = storeCases(async () => {
    if (!lite) throw new Error("PGlite is not open");
    // It never syncs: what a server must be like is not the question here.
    return createSubject(await lite.tempSchema(), { judge: () => undefined });
  });
  // It takes seconds to open, and milliseconds for what a server does in a fraction of one: the statements with most SQL behind them are enough here.
  const short = /delivery, in each state|refused commit|version that was read|counters of a session|one label|fence of a lost lease/;
  for (const { name, run } of cases.filter(({ name }) => isLong || short.test(name))) test(name, run, 60_000);
});
