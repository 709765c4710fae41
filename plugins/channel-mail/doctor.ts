import type { CheckResult, SvcConfig } from "svc/sdk";
import { inspectAccount, listAccounts, unverifiedSenders } from "./accounts.ts";

/** Names the accounts that believe every `From`. No server is asked. */
export function checkSenders(config: SvcConfig): CheckResult {
  const open = listAccounts(config).filter((id) => inspectAccount(config, id).enabled && unverifiedSenders(config, id) === "accept");
  if (open.length === 0)
    return { ok: true, level: "info", message: "senders of mail are believed when the receiving server calls them authentic" };
  return {
    ok: false,
    level: "warning",
    message: `account ${open.join(", ")} of mail believes every From: anybody who writes the address of an allowed sender into it is taken for them`,
    fix: "set channels.mail.authservId to the name of your receiving server in Authentication-Results, and take unverifiedSenders out",
  };
}
