import type { PluginProtocol } from "svc/sdk";
import { approvalErrors } from "./errors.ts";
import { approvalsEvents } from "./protocol-events.ts";
import { approvalsMethods } from "./protocol-methods.ts";
import { approvalsResults } from "./protocol-results.ts";

/** Part of the protocol that this plugin serves. The manifest names this module; `svc.protocol.json` is written from it. */
export default {
  methods: approvalsMethods,
  results: approvalsResults,
  events: approvalsEvents,
  errors: [approvalErrors],
} satisfies PluginProtocol;
