/** Texts of channels. */
export const texts = {
  needed: "It is needed.",
  expectedNumber: "Expected a number.",
  /** @param {{ minimum: number | string, maximum: number | string }} of */
  expectedNumberOf: ({ minimum, maximum }) => `Expected a number from ${minimum} to ${maximum}.`,
  sign: "Sign in",
  testMessage: "Test message",
  signOut: "Sign out",
  stop: "Stop",
  notSigned: "not signed in",
  /** @param {string} title */
  start: (title) => `Start ${title}`,
  starting: "Starting…",
  startLabel: "Start",
  /** @param {string} title */
  signOf: (title) => `Sign in ${title}`,
  /** @param {string} title */
  testMessageThrough: (title) => `Test message through ${title}`,
  /** @param {string} title */
  restart: (title) => `Restart ${title}`,
  restarting: "Restarting…",
  restartLabel: "Restart",
  /** @param {string} title */
  signOutOf: (title) => `Sign out ${title}`,
  /** @param {string} title */
  stopOf: (title) => `Stop ${title}`,
  /** @param {string} title */
  stopQuestion: (title) => `Stop ${title}?`,
  receivesNothingUntil: "It receives nothing until it is started again or the gateway restarts. Messages to it wait in the queue.",
  /** @param {string} title */
  signOutQuestion: (title) => `Sign ${title} out?`,
  stopsSignStored:
    "It stops, and what its sign-in has stored is cleared: to come back it has to be signed in anew. Credentials in the config stay.",
  /** @param {string} title */
  signedOut: (title) => `${title} is signed out.`,
  /** @param {string} title */
  stoppedThereNo: (title) => `${title} is stopped; there was no sign-in to clear.`,
  accounts: "Accounts",
  doesNotWork: "does not work",
  noAccountConfig: "No account is in the config yet.",
  neededWord: "needed",
  unset: "unset",
  true: "true",
  false: "false",
  waitingChannel: "Waiting for the channel",
  endsItself: "It ends by itself in",
  whenPageLoses: ", and when this page loses its connection.",
  beginAgain: "Begin again",
  scanAppPlatform: "Scan it with the app of the platform.",
  newerCodeTakes: "A newer code takes its place by itself.",
  whoeverScansTakes: "Whoever scans it takes part in the account: show it to nobody else.",
  openAddressFollow: "Open this address and follow it to its end:",
  copyAddress: "Copy address",
  enterCodePlatform: "Enter this code on the platform:",
  copyCode: "Copy code",
  close: "Close",
  hide: "Hide",
  /** @param {string} what */
  signed: (what) => `Signed in${what}.`,
  /** @param {string} identity */
  signedInAs: (identity) => ` as ${identity}`,
  accountStarting: "The account is starting.",
  /** @param {string} title */
  qrCodeSigns: (title) => `QR code that signs ${title} in`,
  channels: "Channels",
  whatChannels: "channels",
  /** @param {string} readAt */
  asOf: (readAt) => ` As of ${readAt}.`,
  signNotAllowed: "This sign-in is not allowed to see who waits to be let in.",
  /** @param {string} message */
  whoWaitsLet: (message) => `Who waits to be let in could not be read: ${message}`,
  people: "People",
  theyMayWrite: "They may write direct messages to one account.",
  waits: "waits",
  code: "code",
  /** @param {string} expiresAt */
  expires: (expiresAt) => `expires in ${expiresAt}`,
  /** @param {string} approvedAt */
  approved: (approvedAt) => `approved ${approvedAt}`,
  takeBack: "Take back",
  /** @param {string} who */
  mayWriteNow: (who) => `${who} may write now.`,
  /** @param {string} who */
  rejected: (who) => `${who} was rejected.`,
  /** @param {string} who */
  approve: (who) => `Approve ${who}`,
  approving: "Approving…",
  approveLabel: "Approve",
  /** @param {string} who */
  reject: (who) => `Reject ${who}`,
  rejecting: "Rejecting…",
  rejectLabel: "Reject",
  /** @param {string} who */
  takeBackApproval: (who) => `Take back the approval of ${who}?`,
  /** @param {{ channel: string, accountId: string }} of */
  theyStrangerAgain: ({ channel, accountId }) =>
    `They are a stranger to ${channel}, ${accountId} again: their next message is answered with a new code.`,
  /** @param {string} who */
  mayNotWrite: (who) => `${who} may not write any more.`,
  /** @param {string} who */
  takeBackApprovalOf: (who) => `Take back the approval of ${who}`,
  setOneUp: "Set one up",
  channelLetsPeople: "A channel lets people talk to the agent where they already are.",
  channelsCouldSet: "channels that could be set up",
  someChannelsNeed: "Some channels need packages first. This command installs what one needs and says what its account takes:",
  channelSetUp: "Channel to set up",
  handConfigFile: "Or by hand, in the config file",
  linesConfigFile: "Lines of the config file",
  copyLines: "Copy lines",
  /** @param {number} more */
  moreFields: (more) => `More (${more})`,
  /** @param {string} failed */
  nothingSetUp: (failed) => `Nothing is set up: ${failed}`,
  configTakesEffect: "It is in the config, and takes effect with the next start of the gateway.",
  configAccountListed: "It is in the config. Its account is listed above.",
  /** @param {string} channel */
  setUp: (channel) => `Set up ${channel}`,
  writing: "Writing…",
  sentenceNameGateway:
    "A sentence with the name of this gateway is sent to one recipient, as the channel writes them: a room, or a person.",
  recipient: "Recipient",
  /** @param {string} failed */
  notSent: (failed) => `It was not sent: ${failed}`,
  sending: "Sending…",
  send: "Send",
  /** @param {string} standard */
  unsetIs: (standard) => `Unset: ${standard}.`,
  severalCommas: "Several with commas.",
};
