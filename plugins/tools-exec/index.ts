import { type Approvals, definePlugin, isSvcError, methodOf, type PluginContext } from "svc/sdk";
import { AllowedCommands } from "./allowed-commands.ts";
import { type ExecConfig, execConfig } from "./config.ts";
import { execErrors } from "./errors.ts";
import { execTool } from "./exec-tool.ts";
import { LiveCommands } from "./live-commands.ts";
import { processTool } from "./process-tool.ts";
import { execMethods } from "./protocol-methods.ts";
import { CommandRunner } from "./runner.ts";
import { holdsProcessLimit } from "./sandbox.ts";

/** The tools `exec` and `process`. With mode `off`, the default, no agent has them. */
export default definePlugin({
  id: "tools-exec",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  config: execConfig,
  setup(ctx) {
    const { config, clock, signal } = ctx;
    const allowed = new AllowedCommands(() => ctx.service("store@2"));
    ctx.registerRpc({ ...methodOf(execMethods, "exec.approvals.get"), handler: () => allowed.read() });
    ctx.registerRpc({
      ...methodOf(execMethods, "exec.approvals.set"),
      async handler({ file, baseHash }) {
        if (!(await allowed.replace(file, baseHash))) throw execErrors.allowedCommandsChanged();
        return allowed.read();
      },
    });
    const runner = new CommandRunner(config, { env: ctx.env, signal });
    registerSandboxCheck(ctx, runner, config);
    if (config.mode === "off" || process.platform === "win32") return;
    const live = new LiveCommands();
    const [agents, approvals] = [() => ctx.service("agents@1"), () => approvalsOf(ctx)];
    ctx.registerTool(execTool({ config, runner, live, allowed, approvals, agents, clock }));
    ctx.registerTool(processTool(live));
    ctx.on("gateway.stopping", () => live.close());
    return { stop: () => live.close() };
  },
});

function registerSandboxCheck(ctx: Pick<PluginContext, "registerDoctorCheck">, runner: CommandRunner, { mode, sandbox }: ExecConfig): void {
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

function approvalsOf(ctx: Pick<PluginContext, "service">): Approvals | undefined {
  try {
    return ctx.service("approvals@1");
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}
