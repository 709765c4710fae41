import type { SvcClient } from "svc/sdk/client";
import { describe, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type { AcceptedResultOf, EventPayloadOf, FinalResultOf, HelloOk, ResultOf } from "../index.ts";
import type { helloOk } from "../testing/hello-ok.ts";
import type { CliClient } from "../types/cli.ts";
import type { MemoryStatus } from "../types/memory.ts";
import type { Usage } from "../types/model.ts";
import type { SecretsReloadResult } from "../types/secrets.ts";

declare const client: SvcClient;
declare const command: CliClient;

// Nothing here is called: the compiler checks these bodies (`npm run types`).
const askAgent = () => client.request("agent", { message: "hi", idempotencyKey: "k" });
const askToTheEnd = () =>
  client.request("agent", { message: "hi", idempotencyKey: "k" }, { onAccepted: (first) => void first.acceptedAt, timeoutMs: 1 });
const listSessions = () => command.request("sessions.list", { limit: 3 });
const askPlugin = () => client.request<{ n: number }>("weather.today", { city: "Bern" });
const followAgent = (listener: (payload: EventPayloadOf<"agent">) => void) => client.on("agent", listener);
const followAll = () => client.on("*", (payload, frame) => void [payload.anything, frame.seq]);

describe("a request has the types of its method", () => {
  test("one with two answers gives either, and with onAccepted the last one", () => {
    expectTypeOf<Awaited<ReturnType<typeof askAgent>>["status"]>().toEqualTypeOf<"accepted" | "in_flight" | "ok">();
    expectTypeOf<Awaited<ReturnType<typeof askToTheEnd>>>().toEqualTypeOf<FinalResultOf<"agent">>();
    expectTypeOf<FinalResultOf<"agent">["status"]>().toEqualTypeOf<"in_flight" | "ok">();
    expectTypeOf<AcceptedResultOf<"agent">["acceptedAt"]>().toEqualTypeOf<number>();
    expectTypeOf<AcceptedResultOf<"health">>().toBeNever();
  });

  test("for commands too, and a plugin's method what its caller says", () => {
    expectTypeOf<Awaited<ReturnType<typeof listSessions>>>().toEqualTypeOf<ResultOf<"sessions.list">>();
    expectTypeOf<Awaited<ReturnType<typeof askPlugin>>>().toEqualTypeOf<{ n: number }>();
  });

  test("and a wrong parameter or a wrong name is an error", () => {
    // @ts-expect-error: a limit is a number
    void (() => client.request("sessions.list", { limit: "3" }));
    // @ts-expect-error: no such parameter
    void (() => client.request("sessions.list", { size: 3 }));
    // @ts-expect-error: the answer has no such field
    void (async () => (await client.request("sessions.list", {})).rows);
  });
});

describe("an event has the type of its payload", () => {
  test("by its name", () => {
    expectTypeOf(followAgent).returns.toEqualTypeOf<() => void>();
    expectTypeOf<EventPayloadOf<"tick">>().toEqualTypeOf<{ ts: number }>();
    expectTypeOf<Extract<EventPayloadOf<"agent">, { stream: "assistant" }>["data"]["delta"]>().toEqualTypeOf<string>();
    expectTypeOf<Extract<EventPayloadOf<"chat">, { state: "error" }>["errorMessage"]>().toEqualTypeOf<string>();
    expectTypeOf(followAll).returns.toEqualTypeOf<() => void>();
  });

  test("and a slip in it is an error", () => {
    // @ts-expect-error: `tick` has no such field
    void (() => client.on("tick", (payload) => void payload.time));
  });
});

test("what the schemas say is what the code's own types say", () => {
  expectTypeOf<z.output<typeof helloOk>>().toExtend<HelloOk>();
  expectTypeOf<NonNullable<Extract<EventPayloadOf<"chat">, { state: "final" }>["usage"]>>().toEqualTypeOf<Usage>();
  expectTypeOf<ResultOf<"secrets.reload">>().toEqualTypeOf<SecretsReloadResult>();
  expectTypeOf<MemoryStatus>().toExtend<ResultOf<"memory.status">>();
});
