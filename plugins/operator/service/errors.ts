import { defineErrors } from "svc/sdk";

/** Errors of installing and controlling a supervised gateway. */
export const errors = defineErrors({
  "service-value-unusable": {
    message: "service definition: {what} has {reason}, which a definition cannot hold; choose another path",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-platform-unknown": {
    message:
      "no supervisor is known for {platform}; expected Linux, macOS or Windows; run svc gateway in the foreground under one of your own",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-owned-elsewhere": {
    message: "gateway {verb}: {owner} owns the gateway; {advice}",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-differs": {
    message: "a different definition is installed: {path}; replace it with: {command}",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-not-installed": {
    message: "gateway {verb}: no service is installed for this profile; install it with: {command}",
    http: 404,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-mode": {
    message: 'gateway.mode: expected "local" on the host of a gateway, got {mode}; {advice}',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-node": {
    message: "node {path}: {reason}; expected Node {floor} or newer; name another one with --node",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "service-bus": {
    message:
      "systemd of this user cannot be reached ({reason}); set XDG_RUNTIME_DIR=/run/user/{uid}, and let the user's services run without a session: loginctl enable-linger {user}",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "service-command": {
    message: "{command}: {reason}{hint?}",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "service-not-ready": {
    message: "the service was started, and its gateway is not ready: {reason}; see svc gateway status and svc logs",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "service-port-taken": {
    message: "port {port} is held by {command} (pid {pid}); end that program, or choose another port",
    http: 409,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "gateway-unsupervised": {
    message: "a gateway that no supervisor owns is running (pid {pid}); end it first: {command}",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "gateway-not-ended": {
    message: "gateway stop: process {pid} {reason}",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
