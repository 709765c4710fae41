import { expect, expectTypeOf, test } from "vitest";
import { ClientError, type ErrorDetails, fromWire } from "./error.ts";

const pairing = { code: "PAIRING_REQUIRED", requestId: "r-1", requestedScopes: ["operator.read"] };

test("the code of details says which fields there are", () => {
  const { details } = fromWire({ code: "NOT_PAIRED", message: "pairing required", details: pairing }, undefined);

  if (details?.code !== "PAIRING_REQUIRED") throw new Error(`unexpected details ${JSON.stringify(details)}`);

  expectTypeOf(details.requestId).toEqualTypeOf<string | undefined>();
  expectTypeOf(details.requestedScopes).toEqualTypeOf<string[] | undefined>();
  // @ts-expect-error: a field of another code
  expect([details.requestId, details.missingScope]).toEqual(["r-1", undefined]);
});

test("a code that no error carries is no case of the details", () => {
  const isAsked = ({ details }: ClientError) => details?.code === "MISSING_SCOPE";
  // @ts-expect-error: no error has this code
  const isMisspelt = ({ details }: ClientError) => details?.code === "MISSING_SCOPES";
  const error = new ClientError("FORBIDDEN", "missing scope", { details: { code: "MISSING_SCOPE", missingScope: "operator.admin" } });

  expect([isAsked(error), isMisspelt(error)]).toEqual([true, false]);
  expectTypeOf<Extract<ErrorDetails, { code: "BUSY" }>>().toEqualTypeOf<{ code: "BUSY" }>();
});

test("details without a code are those of the client itself, or of errors that need none", () => {
  const { details } = new ClientError("connection-closed", "the connection closed", { details: { closeCode: 1008 } });

  if (details?.code !== undefined) throw new Error("unexpected code");

  expectTypeOf(details?.closeCode).toEqualTypeOf<number | undefined>();
  expectTypeOf(details?.reason).toEqualTypeOf<string | undefined>();
  expect(details).toEqual({ closeCode: 1008 });
});

test("a code of a plugin from elsewhere is read as text", () => {
  const error = fromWire({ code: "UNAVAILABLE", message: "no tide", details: { code: "NO_TIDE", place: "Brest" } }, undefined);

  expect(error.detailCode).toBe("NO_TIDE");
});
