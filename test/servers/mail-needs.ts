import { missingOf, needs, skippedFor } from "./needs.ts";
import { needsPackages } from "./vendored.ts";

/** `describe` and `test` for tests of mail: skipped, each by its name, where a server or the plugin's packages are missing. */
export async function needsMail(...more: string[]): ReturnType<typeof needsPackages> {
  const commands = ["dovecot", ...more];
  return missingOf(commands).length > 0 ? needs(...commands) : needsPackages("channel-mail");
}

/** The same for tests whose mail goes through exim. */
export async function needsExim(): ReturnType<typeof needsPackages> {
  return process.getuid?.() === 0 ? needsMail("exim4", "setpriv") : skippedFor("exim4, run by root");
}
