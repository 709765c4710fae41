/** Texts of webhooks. */
export const texts = {
  mappings: { one: "# mapping", other: "# mappings" },
  webhooksOffNothing: "Webhooks are off: nothing is accepted, and every path answers 404.",
  webhooksSwitchedBut: "Webhooks are switched on, but they are not being served.",
  noMappingsYet: "no mappings yet",
  /** @param {{ origin: string, path: string, rules: string }} of */
  accepted: ({ origin, path, rules }) => `Accepted at ${origin}${path}, ${rules}.`,
  failed: "failed",
  expired: "expired",
  nothingWaitsNothing: "Nothing waits, and nothing has failed.",
  triesAgain: "tries again",
  waiting: "waiting",
  running: "running",
  skipped: "skipped",
  runFailed: "run failed",
  done: "done",
  run: "Run",
  answered: "answered",
  /** @param {string} code */
  ended: (code) => `ended with ${code}`,
  error: "an error",
  delivery: "Delivery",
  summary: "Summary",
  leftNoteMain: "left as a note in the main session",
  reportedMainSession: "reported to the main session",
  heartbeat: "Heartbeat",
  asked: "asked for",
  notAsked: "not asked for",
  /** @param {string} because */
  notSent: (because) => `not sent: ${because}`,
  /** @param {string} error */
  failedWith: (error) => `failed: ${error}`,
  sent: "sent",
  way: "on its way",
  /** @param {string} notBefore */
  nextTry: (notBefore) => `next try in ${notBefore}`,
  /** @param {string} expiresAt */
  expires: (expiresAt) => `expires in ${expiresAt}`,
  /** @param {string} provider */
  signature: (provider) => `signature (${provider})`,
  /** @param {string} provider */
  tokenSignature: (provider) => `token and signature (${provider})`,
  defaultAgent: "the default agent",
  /** @param {string} agentId */
  agent: (agentId) => `agent ${agentId}`,
  /** @param {string} who */
  wakes: (who) => `wakes ${who}`,
  /** @param {string} who */
  runsAgent: (who) => `runs ${who}`,
  /** @param {string} forEach */
  oneEach: (forEach) => `one for each of ${forEach}`,
  /** @param {string} source */
  onlySource: (source) => `only source ${source}`,
  payloadUnframed: "payload unframed",
  sendersNeedToken: "Senders need a token: write one, or have one made.",
  expectedLettersDigits: "Expected letters, digits and signs, without a space.",
  /** @param {number} MIN_TOKEN */
  expectedLeastCharacters: (MIN_TOKEN) => `Expected at least ${MIN_TOKEN} characters.`,
  call: "Call it",
  callDoes: "What the call does",
  callLabel: "Call",
  copyCall: "Copy call",
  hookToken: "$HOOK_TOKEN is what",
  prints: "prints.",
  runAgent: "Run an agent",
  leaveLine: "Leave a line",
  lastDeliveries: "Last deliveries",
  show: "Show",
  showMore: "Show more",
  /** @param {number} attempt */
  tries: (attempt) => `${attempt} tries`,
  all: "All",
  waitingLabel: "Waiting",
  doneLabel: "Done",
  failedLabel: "Failed",
  last: { one: "# delivery", other: "The last # deliveries" },
  notConnected: "Not connected",
  /** @param {string} filter */
  noDelivery: (filter) => `No delivery is ${filter}.`,
  nothingComeYet: "Nothing has come in yet. The call above makes a first one.",
  nothingCome: "Nothing has come in.",
  copyId: "Copy id",
  retry: "Retry",
  drop: "Drop",
  openSession: "Open session",
  textCouldNot: "The text could not be read.",
  textDelivery: "Text of the delivery",
  id: "Id",
  mapping: "Mapping",
  acceptedLabel: "Accepted",
  changed: "Changed",
  triesLabel: "Tries",
  notKeptAny: "It is not kept any more.",
  notConnectedGateway: "Not connected to the gateway",
  reading: "Reading…",
  showText: "Show text",
  /** @param {string} name */
  retryOf: (name) => `Retry “${name}”?`,
  getsFreshSet:
    "It gets a fresh set of attempts and another 24 hours. Work that its agent has already done is not undone and may happen twice.",
  /** @param {string} name */
  queueAgain: (name) => `“${name}” is in the queue again`,
  /** @param {string} name */
  dropOf: (name) => `Drop “${name}”?`,
  markedFailedNote: "It is marked as failed, and a note in the main session says so. You can retry it for 7 days.",
  /** @param {string} name */
  dropped: (name) => `“${name}” was dropped`,
  mappingsLabel: "Mappings",
  firstMatchHandles: "The first match handles the request.",
  /** @param {string} id */
  preset: (id) => `preset ${id}`,
  noPluginBrings: "No plugin brings it.",
  noneOnly: "None. Only",
  and: "and",
  answeredOthersSet: "are answered; others are set under hooks.mappings and hooks.presets.",
  /** @param {string} door */
  opened: (door) => `opened by ${door}`,
  /** @param {string} preset */
  presetWord: (preset) => `preset ${preset}`,
  doesNotWork: "does not work",
  /** @param {string | undefined} path */
  copyCallOf: (path) => `Copy call for ${path}`,
  webhooks: "Webhooks",
  whatWebhooks: "webhooks",
  /** @param {string} readAt */
  asOf: (readAt) => ` As of ${readAt}.`,
  switchThem: "Switch them on",
  otherSystemsCan: "Other systems can then start an agent or leave it a line. They need a token of their own, never the gateway's.",
  makeOne: "Make one",
  copyNowSenders: "Copy it now, for the senders: afterwards this page does not know it any more, and",
  printsGatewayS: "prints it on the gateway's machine.",
  commandLine: "Or on the command line",
  copyToken: "Copy token",
  /** @param {string} failed */
  theyStayOff: (failed) => `They stay off: ${failed}`,
  webhooksSwitchedNext: "Webhooks are switched on with the next start of the gateway.",
  webhooksSwitched: "Webhooks are switched on.",
  anotherTokenSenders: "Another token for senders (empty: the one there is)",
  tokenSenders: "Token for senders",
  switching: "Switching on…",
  switchWebhooks: "Switch webhooks on",
};
