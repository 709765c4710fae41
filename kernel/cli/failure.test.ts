import { expect, it } from "vitest";
import { ClientError } from "../../sdk/client/error.ts";
import { commonErrors } from "../../sdk/errors.ts";
import { configErrors } from "../config/errors.ts";
import { toFailure } from "./failure.ts";

it.each([
  [commonErrors.usage({ message: "m", hint: "h" }), { type: "usage", code: "usage", message: "m", hint: "h", exit: 2 }],
  [commonErrors.invalidConfig({ message: "m" }), { type: "config", code: "invalid-config", message: "m", exit: 78 }],
  [
    commonErrors.gatewayUnreachable({ url: "ws://x", reason: "refused", advice: "start it with: svc gateway" }),
    {
      type: "transport",
      code: "gateway-unreachable",
      message: "gateway not reachable at ws://x: refused; start it with: svc gateway",
      exit: 1,
    },
  ],
  [commonErrors.clientUnauthorized({ message: "m" }), { type: "auth", code: "client-unauthorized", message: "m", exit: 1 }],
  [
    configErrors.configRejected({ problem: "no section", hint: "svc.json:1:1" }),
    { type: "config", code: "config-rejected", message: "invalid config: no section", hint: "svc.json:1:1", exit: 1 },
  ],
  [commonErrors.failed({ message: "m" }), { type: "rpc", code: "failed", message: "m", exit: 1 }],
  [new ClientError("request-timed-out", "m"), { type: "transport", code: "request-timed-out", message: "m", exit: 1 }],
  [
    new ClientError("FORBIDDEN", "m", { details: { code: "MISSING_SCOPE" } }),
    { type: "auth", code: "MISSING_SCOPE", message: "m", exit: 1 },
  ],
  [new ClientError("UNAVAILABLE", "m", { details: { code: "TIMEOUT" } }), { type: "rpc", code: "TIMEOUT", message: "m", exit: 1 }],
  [new ClientError("INVALID_REQUEST", "m"), { type: "rpc", code: "INVALID_REQUEST", message: "m", exit: 1 }],
])("%s", (error, failure) => expect(toFailure(error)).toEqual(failure));

it("calls anything else a fault of the program", () => {
  expect(toFailure(new TypeError("x is undefined"))).toMatchObject({ type: "internal", message: "x is undefined", exit: 1 });
  expect(toFailure("text")).toMatchObject({ type: "internal", message: "text" });
});

it("calls a folder that cannot be written what it is, and not a fault of svc", () => {
  const error = Object.assign(new Error("EROFS: read-only file system, mkdir '/x/gateway'"), { code: "EROFS" });
  const failure = toFailure(error);
  expect(failure).toMatchObject({ type: "config", code: "erofs", message: error.message, exit: 1 });
  expect(failure.hint).toContain("SVC_STATE_DIR");
});
