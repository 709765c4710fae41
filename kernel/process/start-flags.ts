/** Decisions of the command line about a gateway; they win over config and environment. */
export interface StartFlags {
  port?: number | undefined;
  bind?: "loopback" | "lan" | "tailnet" | "auto" | "custom" | undefined;
  auth?: string | undefined;
  token?: string | undefined;
  password?: string | undefined;
  allowUnconfigured?: boolean | undefined;
  /** Serve HTTPS with a certificate of this machine; for the dev profile. */
  https?: boolean | undefined;
}
