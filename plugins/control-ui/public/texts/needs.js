/** Texts of needs. */
export const texts = {
  /** @param {{ outcome: string, warning: string }} of */
  warning: ({ outcome, warning }) => `${outcome} Warning: ${warning}`,
  allowOnce: "Allow once",
  allowedOnce: "Allowed once.",
  alwaysAllow: "Always allow",
  allowedNow: "Allowed from now on.",
  deny: "Deny",
  denied: "Denied.",
  /** @param {string} who */
  asksWriteAgent: (who) => `${who} asks to write to the agent`,
  /** @param {{ channel: string, accountId: string, code: string, max: string }} of */
  codeExpires: ({ channel, accountId, code, max }) => `${channel}, ${accountId} · code ${code} · expires in ${max}`,
  approve: "Approve",
  /** @param {string} who */
  mayWriteNow: (who) => `${who} may write now.`,
  reject: "Reject",
  /** @param {string} who */
  rejected: (who) => `${who} was rejected.`,
  channels: "Channels",
  /** @param {string} name */
  asksPaired: (name) => `${name} asks to be paired`,
  /** @param {string} scope */
  asksDo: (scope) => `Asks to do: ${scope}`,
  /** @param {string} name */
  mayConnectNow: (name) => `${name} may connect now.`,
  /** @param {string} name */
  rejectedOf: (name) => `${name} was rejected.`,
  devices: "Devices",
  /** @param {string} title */
  starting: (title) => `${title} is starting.`,
  blocked: "is blocked",
  incomplete: "is incomplete",
  channelDoesNot: "Its channel does not say why.",
  startAgain: "Start again",
  openChannels: "Open Channels",
  /** @param {string} name */
  askedLoad: (name) => `${name} was asked to load.`,
  quarantined: "is quarantined",
  doesNotWork: "does not work",
  /** @param {string} hint */
  whatToDo: (hint) => `What to do: ${hint}.`,
  letLoadAgain: "Let it load again",
  tryAgain: "Try again",
  openPlugins: "Open Plugins",
  gatewayRestartsOnce: "The gateway restarts once its runs have ended.",
  changeWaitsRestart: "A change waits for a restart",
  runsUnderWay: "Runs that are under way end first; channels and this page come back by themselves.",
  restartNow: "Restart now",
  things: { one: "# thing", other: "# things" },
  needsYou: "Needs you",
  close: "Close",
  nothingWaitsYou: "Nothing waits for you.",
  /** @param {string} reason */
  yourAnswerCame: (reason) => `Your answer came too late: ${reason}`,
  /** @param {string} lastOnlineAt */
  notConnected: (lastOnlineAt) => `Not connected. As of ${lastOnlineAt}.`,
  allAnswered: "All is answered.",
  /** @param {string} needsCount */
  thingsToLookAt: (needsCount) => `${needsCount} to look at.`,
  /** @param {string} failed */
  nothingChanged: (failed) => `Nothing was changed: ${failed}`,
  answerWay: "The answer is on its way",
  working: "Working…",
};
