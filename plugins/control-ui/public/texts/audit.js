/** Texts of audit. */
export const texts = {
  entries: { one: "# entry", other: "# entries" },
  everything: "Everything",
  tools: "Tools",
  messages: "Messages",
  approvals: "Approvals",
  config: "Config",
  plugins: "Plugins",
  devices: "Devices",
  signIns: "Sign-ins",
  gateway: "Gateway",
  gatewayWord: "the gateway",
  /** @param {string} id */
  device: (id) => `device ${id}`,
  /** @param {{ name: string, remote: string }} of */
  actorFrom: ({ name, remote }) => `${name}, from ${remote}`,
  /** @param {{ what: string, reason: string }} of */
  chainBrokenEntry: ({ what, reason }) => `The chain is broken at entry ${what}: ${reason}.`,
  noReasonGiven: "no reason was given",
  /** @param {string} from */
  entry: (from) => `, from entry ${from} on`,
  /** @param {{ replace: string, since: string, seq: string }} of */
  checkedNoneChanged: ({ replace, since, seq }) => `${replace} checked${since}: none was changed or removed up to entry ${seq}.`,
  audit: "Audit",
  agentsOperatorsDid: "What agents and operators did.",
  done: "What was done",
  whoDid: "Who did it",
  nameAgentOperator: "Name of an agent or operator",
  readAgain: "Read again",
  auditEntries: "audit entries",
  entriesLabel: "Entries",
  failed: "failed",
  showMore: "Show more",
  nothingLoggedYet: "Nothing was logged yet",
  noEntryMatches: "No entry matches",
  showEverything: "Show everything",
  notConnectedGateway: "Not connected to the gateway",
  /** @param {string} shown */
  newest: (shown) => `The newest ${shown}`,
  notConnected: "Not connected",
  copyNewestPlace: "Copy the newest place",
  checking: "Checking…",
  checkChain: "Check the chain",
};
