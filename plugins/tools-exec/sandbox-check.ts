import type { PluginContext } from "svc/sdk";
import type { ExecConfig } from "./config.ts";
import type { CommandRunner } from "./runner.ts";
import { holdsProcessLimit } from "./sandbox.ts";

/** Doctor check `exec/sandbox`: what keeps commands, and what does not. */
export function registerSandboxCheck(
  ctx: Pick<PluginContext, "registerDoctorCheck">,
  runner: CommandRunner,
  { mode, sandbox }: ExecConfig,
): void {
  ctx.registerDoctorCheck({
    id: "exec/sandbox",
    async run() {
      if (mode === "off") return { ok: true, level: "info", message: "no agent runs commands (mode off)" };
      const info = "plugins.entries.tools-exec.config.sandbox";
      if (sandbox === "off") return { ok: true, level: "warning", message: `commands run without a sandbox, as ${info} says` };
      if ((await runner.tools()).sandbox) {
        const unlimited = holdsProcessLimit() ? "" : "; how many processes they start is not limited, for root or on a Linux before 5.14";
        return { ok: true, level: "info", message: `commands run in a sandbox (bubblewrap)${unlimited}` };
      }
      const effect = sandbox === "require" ? "so no command runs" : "so commands run with the rights of the gateway";
      const message = `bubblewrap is missing or may not make namespaces, ${effect}`;
      return { ok: false, level: "warning", message, fix: "apt-get install bubblewrap" };
    },
  });
}
