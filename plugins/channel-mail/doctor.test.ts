import { expect, test } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { checkSenders } from "./doctor.ts";

test("svc doctor names the accounts that believe every From, and no others", () => {
  const section = (more: object) => channelConfig("mail", { address: "agent@example.net", authservId: "mx.example.org", ...more });

  expect(checkSenders(section({}))).toMatchObject({ ok: true });
  expect(checkSenders(section({ enabled: false, unverifiedSenders: "accept" }))).toMatchObject({ ok: true });
  expect(checkSenders(section({ accounts: { second: { unverifiedSenders: "accept" } } }))).toMatchObject({
    ok: false,
    level: "warning",
    message: expect.stringContaining("account second of mail"),
  });
});
