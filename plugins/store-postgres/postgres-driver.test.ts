import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPostgresDriver, type PostgresLibrary } from "./postgres-driver.ts";

type Statement = ReturnType<ReturnType<PostgresLibrary>["unsafe"]>;

/** Connections that were opened, the oldest first: what their statements answer, and whether they were ended. */
let opened: Array<{ statements: string[]; isEnded: boolean }>;
beforeEach(() => {
  opened = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The driver as it is when it forgets each statement of its first connection. */
const forgetful: PostgresLibrary = () => {
  const nth = opened.length;
  const connection = { statements: [] as string[], isEnded: false };
  opened.push(connection);
  return {
    unsafe(text): Statement {
      connection.statements.push(text);
      return nth === 0 ? new Promise(() => undefined) : Promise.resolve([{ one: 1 }]);
    },
    listen: () => Promise.reject(new Error("not part of this test")),
    async end() {
      connection.isEnded = true;
    },
  };
};

test.each([
  ["writer", 35_000],
  ["readers", 15_000],
  ["notifier", 10_000],
] as const)(
  "a statement of the %s that the driver forgets fails after %i ms, and the next one has another connection",
  async (role, limitMs) => {
    const link = createPostgresDriver(forgetful, { url: "postgres://db", schema: "svc", pool: 4, tls: "off" }).link(role);
    const answers = [link.query("SELECT 1 AS one"), link.query("SELECT 2 AS one")].map((answer) => answer.catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(opened).toEqual([{ statements: ["SELECT 1 AS one", "SELECT 2 AS one"], isEnded: false }]);

    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all(answers)).toMatchObject([{ code: "NO_ANSWER" }, { code: "NO_ANSWER" }]);
    expect(await link.query("SELECT 3 AS one")).toEqual([{ one: 1 }]);
    expect(opened).toEqual([
      { statements: ["SELECT 1 AS one", "SELECT 2 AS one"], isEnded: true },
      { statements: ["SELECT 3 AS one"], isEnded: false },
    ]);
  },
);
