import { type Approvals, definePlugin, isSvcError, methodOf, type PluginContext } from "svc/sdk";
import { AllowedCommands } from "./allowed-commands.ts";
import { execConfig } from "./config.ts";
import { execErrors } from "./errors.ts";
import { execTool } from "./exec-tool.ts";
import { LiveCommands } from "./live-commands.ts";
import { processTool } from "./process-tool.ts";
import { execMethods } from "./protocol-methods.ts";
import { CommandRunner } from "./runner.ts";
import { registerSandboxCheck } from "./sandbox-check.ts";

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

function approvalsOf(ctx: Pick<PluginContext, "service">): Approvals | undefined {
  try {
    return ctx.service("approvals@1");
  } catch (error) {
    if (isSvcError(error, "service-unavailable")) return undefined;
    throw error;
  }
}
