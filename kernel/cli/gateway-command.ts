import type { CliCommand } from "../../sdk/types/cli.ts";
import type { GatewayCommandOptions } from "./gateway-run.ts";

const options: NonNullable<CliCommand["options"]> = {
  port: { kind: "integer", description: "Port to listen on", min: 1, max: 65_535, placeholder: "n" },
  bind: { kind: "string", description: "Where to listen", choices: ["loopback", "lan", "tailnet", "auto", "custom"] },
  auth: { kind: "string", description: "How callers authenticate", choices: ["token", "password", "none"] },
  token: { kind: "string", description: "Gateway token", placeholder: "token" },
  password: {
    kind: "string",
    description: "Gateway password; others on this machine can see it, better --password-file",
    placeholder: "password",
  },
  "password-file": { kind: "string", description: "File that holds the gateway password", placeholder: "path" },
  verbose: { kind: "flag", description: "Mirror debug and trace lines to this terminal" },
  force: { kind: "flag", description: "End the process that listens on the port, then start" },
  "allow-unconfigured": { kind: "flag", description: "Start without a config file or gateway.mode" },
  "ws-log": {
    kind: "string",
    description: "WebSocket lines in the log: compact = connections and failures, full = every method too; auto = none",
    choices: ["auto", "compact", "full"],
  },
  https: { kind: "flag", description: "Serve HTTPS with a certificate made for this machine, and show the addresses; profile dev only" },
  reset: { kind: "flag", description: "Start with an empty state directory; profile dev only" },
};

/** `svc gateway` as data; the gateway's code is loaded when it runs. */
export function gatewayCommand(own: GatewayCommandOptions): CliCommand {
  return {
    path: own.path,
    summary: "Run the gateway in the foreground",
    details:
      "Ends gracefully on Ctrl-C or SIGTERM. SIGHUP reads the config again; SIGUSR1 or SIGUSR2 restarts. Exit codes: 0 stopped, 1 failed, 2 usage, 78 refused to start (do not retry).",
    examples: [
      ["On another port", "svc gateway --port 18790"],
      ["A disposable gateway beside the real one", "svc --dev gateway --allow-unconfigured"],
      ["The same over HTTPS", "svc --dev gateway --allow-unconfigured --https"],
    ],
    options,
    run: async (cli, values) => {
      const { runGateway } = await import("./gateway-run.ts");
      return runGateway(cli, values, own);
    },
  };
}
