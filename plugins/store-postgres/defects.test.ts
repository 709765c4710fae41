import type { StoreOp } from "svc/sdk";
import { runCases, storeCases } from "svc/sdk/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { anyDatabase, needsPostgres } from "../../test/servers/postgres.ts";
import { createSubject, loadPostgres, openTemp, runScript, tempSchema } from "../../test/servers/postgres-store.ts";
import { encodeOp, locksOf } from "./operations.ts";
import { deliveryFunctions } from "./sql-deliveries.ts";
import { groupFunctions } from "./sql-group.ts";
import { operationFunctions } from "./sql-operations.ts";

const { describe, test } = await needsPostgres();
let given: Awaited<ReturnType<typeof anyDatabase>> | undefined;
beforeAll(async () => {
  given = await anyDatabase();
});
afterAll(() => given?.remove());
const url = () => String(given?.url);

const functions = [operationFunctions, deliveryFunctions, groupFunctions].join("\n");

/** The definition of one function with a defect in it. */
function broken(name: string, right: string, wrong: string): string {
  const from = functions.indexOf(`CREATE FUNCTION ${name}(`);
  const sql = functions.slice(from, functions.indexOf("END $$;", from) + 7);
  expect(sql, `${name} does not hold ${right}`).toContain(right);
  return sql.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace(right, wrong);
}

const table = "each operation on a delivery, in each state, has the result of the model";

describe("the suite finds a store in which", () => {
  test.each([
    ["a failed delivery may be claimed", table, ["claim_delivery", '"uncertain"]', '"uncertain", "failed"]']],
    ["any boot records a step", table, ["step_delivery", "d.lease_boot IS DISTINCT FROM op->>'leaseBoot' OR ", ""]],
    ["a claim does not look at its owner", table, ["expect_owner", "d.lease_boot = owner->>'leaseBoot' AND ", ""]],
    [
      "the second first writer wins",
      "of two first writers of a value one is refused",
      ["put_value", "IF (op->>'ifAbsent')::boolean THEN", "IF false THEN"],
    ],
    [
      "fences are not looked at",
      "a commit with the fence of a lost lease stores nothing",
      ["check_lease", "IF NOT FOUND THEN", "IF false THEN"],
    ],
  ] as const)("%s", async (_, found, [name, right, wrong]) => {
    const results = await runCases(
      storeCases(async () => createSubject(await tempSchema(url()), { defect: broken(name, right, wrong) })).filter(
        (one) => one.name === found,
      ),
    );

    expect(results).toEqual([{ name: found, failure: expect.any(String) }]);
  });
});

const accept = (uid: string): StoreOp => ({
  op: "delivery.accept",
  delivery: { uid, dir: "hook-agent", lane: "one lane", payload: {}, expiresAt: 9_000_000_000_000 },
  at: 1,
});

/** Uids that are due after a transaction has taken an id of a lane and another gateway has taken the next one. */
async function dueBesideAnOpenCommit(withoutLock: string | undefined): Promise<{ before: string[]; after: string[] }> {
  const { schema, database, drop } = await tempSchema(url());
  const { service, close } = await openTemp(database, schema);
  const sql = (await loadPostgres())(url(), { max: 1, connection: { search_path: schema } });
  const commits = [[encodeOp(accept("first"))]];
  const locks = (locksOf(commits) ?? []).filter((name) => name !== withoutLock);
  const due = async () => (await service.deliveries.due({ dirs: ["hook-agent"], now: 1, limit: 10 })).map(({ uid }) => uid);
  await sql.unsafe("BEGIN");
  await sql.unsafe("SELECT apply_group($1, $2, 0)", [JSON.stringify(commits), JSON.stringify(locks)]);
  const second = service.commit([accept("second")]);
  const isStored = await Promise.race([second.then(() => true), waitsForLock(sql).then(() => false)]);
  const before = isStored ? await due() : [];
  await sql.unsafe("COMMIT");
  await second;
  const after = await due();
  await sql.end({ timeout: 1 });
  await close();
  await drop();
  return { before, after };
}

type Sql = ReturnType<Awaited<ReturnType<typeof loadPostgres>>>;

/** Resolves when so many transactions wait for an advisory lock; from then on they cannot be stored before this one. */
async function waitsForLock(sql: Sql, waiting = 1): Promise<void> {
  for (let n = 0; n < 1_000; n++) {
    const [row] = await sql.unsafe("SELECT count(*)::integer AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    if (Number(row?.n) >= waiting) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a row of a lane cannot be claimed before one that took its place earlier and is not stored yet", async () => {
  expect(await dueBesideAnOpenCommit(undefined)).toEqual({ before: [], after: ["first"] });
  // Without the lock of the lane the second row is at its head, and then the first one is: two at once.
  expect(await dueBesideAnOpenCommit("lane one lane")).toEqual({ before: ["second"], after: ["first"] });
});

/** Deadlocks of two groups that name the same keys in opposite orders, both stopped at the key in the middle. */
async function deadlocks(defect: string | undefined): Promise<number> {
  const { schema, database, drop } = await tempSchema(url());
  const { close } = await openTemp(database, schema);
  if (defect !== undefined) await runScript(database, defect);
  const library = await loadPostgres();
  const [one, two, between] = [0, 1, 2].map(() => library(url(), { max: 1, connection: { search_path: schema } })) as [Sql, Sql, Sql];
  const group = (sql: Sql, keys: string[]) => sql.unsafe("SELECT apply_group('[]', $1, 0)", [JSON.stringify(keys)]);
  await between.unsafe("BEGIN");
  await group(between, ["middle"]);
  const groups = Promise.allSettled([group(one, ["a", "middle", "b"]), group(two, ["b", "middle", "a"])]);
  await waitsForLock(between, 2);
  await between.unsafe("COMMIT");
  const ended = await groups;
  for (const sql of [one, two, between]) await sql.end({ timeout: 1 });
  await close();
  await drop();
  return ended.filter((end) => end.status === "rejected" && (end.reason as { code?: unknown }).code === "40P01").length;
}

test("two gateways that write the same rows in opposite orders never wait for each other in a circle", async () => {
  expect(await deadlocks(undefined)).toBe(0);
  const unsorted = broken(
    "apply_group",
    "SELECT DISTINCT hashtextextended(key, space) AS number FROM jsonb_array_elements_text(keys) key ORDER BY 1",
    "SELECT hashtextextended(key, space) AS number FROM jsonb_array_elements_text(keys) key",
  );
  expect(await deadlocks(unsorted)).toBeGreaterThan(0);
});
