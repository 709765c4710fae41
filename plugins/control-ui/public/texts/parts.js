/** Texts of parts that many views use. */
export const texts = {
  restarts: { one: "# restart", other: "# restarts" },
  accounts: { one: "# account", other: "# accounts" },
  disabled: "disabled",
  incomplete: "incomplete",
  ready: "ready",
  starting: "starting",
  connectingAgain: "connecting again",
  blocked: "blocked",
  stoppedHand: "stopped by hand",
  stopped: "stopped",
  /** @param {string} missing */
  configLacks: (missing) => `The config lacks ${missing}.`,
  channelNeeds: "what the channel needs",
  /** @param {string} lastInboundAt */
  lastIn: (lastInboundAt) => `last in ${lastInboundAt}`,
  /** @param {string} lastOutboundAt */
  lastOut: (lastOutboundAt) => `last out ${lastOutboundAt}`,
  /** @param {string} queueDepth */
  waitingSent: (queueDepth) => `${queueDepth} waiting to be sent`,
  /** @param {string} lastError */
  lastError: (lastError) => `last error: ${lastError}`,
  noChannelSet: "No channel is set up: people reach the agent on this page only.",
  /** @param {{ ready: string, accounts: string, needs: string }} of */
  readyOf: ({ ready, accounts, needs }) => `${ready} of ${accounts} ready${needs}.`,
  /** @param {string} to */
  sentTo: (to) => `Sent to ${to}.`,
  /** @param {string} to */
  messageWaitsQueue: (to) => `The message to ${to} waits in the queue.`,
  /** @param {string} to */
  notKnownWhether: (to) => `It is not known whether the message to ${to} has arrived.`,
  /** @param {string} gatewayName */
  testMessage: (gatewayName) => `This is a test message of ${gatewayName}.`,
  /** @param {{ path: string, message: string }} of */
  writtenDownBut: ({ path, message }) => `It is written down, but not in force: ${path}: ${message}`,
  /** @param {string | undefined} message */
  savedButNot: (message) => `Saved, but not applied: ${message}`,
  nothingDifferedNothing: "Nothing differed; nothing was written.",
  savedTakesEffect: "Saved. It takes effect with the next start.",
  savedGatewayRestarts: "Saved. The gateway restarts.",
  savedApplied: "Saved and applied.",
  devices: { one: "# device", other: "# devices" },
  /** @param {string} remoteIp */
  from: (remoteIp) => `from ${remoteIp}`,
  /** @param {string} ts */
  asked: (ts) => `asked ${ts}`,
  pairedBefore: "was paired before",
  /** @param {string} shortId */
  id: (shortId) => `id ${shortId}`,
  /** @param {string} lastSeenAtMs */
  lastSeen: (lastSeenAtMs) => `last seen ${lastSeenAtMs}`,
  connected: "connected",
  away: "away",
  signedOut: "signed out",
  everything: "everything",
  nothing: "nothing",
  noDevicePaired: "No device is paired",
  /** @param {{ paired: string, here: string }} of */
  pairedConnected: ({ paired, here }) => `${paired} paired, ${here} connected`,
  clientWithoutName: "A client without a name",
  /** @param {string} version */
  version: (version) => `version ${version}`,
  machine: "this machine",
  /** @param {string} ip */
  fromAddress: (ip) => `from ${ip}`,
  writeAddressWhich: "Write the address at which the phone reaches this gateway.",
  noWebAddress: "That is no web address: expected one that begins with https.",
  overPlainHttp: "Over plain HTTP a phone cannot keep a key of its own: expected an address that begins with https.",
  gatewayProxySays: "On this gateway a proxy says who people are: a phone signs in there.",
  gatewayLetsEverybody: "This gateway lets everybody on its machine in and nobody else: there is nothing to sign in to.",
  writeNameSuch: "Write a name, such as garden or people/ana.",
  nameDoesNot: "A name does not begin with a dot.",
  nameLettersDigits: "A name has letters, digits, spaces and hyphens.",
  nameTooLong: "The name is too long.",
  newNote: "New note",
  failures: { one: "# failure", other: "# failures" },
  plugins: { one: "# plugin", other: "# plugins" },
  active: "active",
  loadsWhenUsed: "loads when used",
  loading: "loading",
  stopping: "stopping",
  degraded: "degraded",
  triesAgain: "tries again",
  failed: "failed",
  off: "off",
  quarantined: "quarantined",
  hooksRest: "hooks rest",
  /** @param {string} hint */
  whatToDo: (hint) => `What to do: ${hint}.`,
  /** @param {string} isolation */
  runsOwn: (isolation) => `Runs in a ${isolation} of its own.`,
  /** @param {{ status: string, error: string }} of */
  lastReload: ({ status, error }) => `The last reload ${status}: ${error}`,
  /** @param {string} until */
  calledAgain: (until) => ` It is called again in ${until}.`,
  triedAgainNext: " It is tried again with the next call.",
  /** @param {{ name: string, failures: string, lastError: string, again: string }} of */
  hookNotCalled: ({ name, failures, lastError, again }) => `The hook ${name} is not called after ${failures}: ${lastError}.${again}`,
  noReasonKnown: "no reason is known",
  /** @param {{ on: string, plugins: string, needs: string }} of */
  pluginsOn: ({ on, plugins, needs }) => `${on} of ${plugins} on.${needs}`,
  addsNothingOthers: "It adds nothing that others could miss.",
  /** @param {string} parts */
  addsGoesOnce: (parts) => `What it adds goes at once: ${parts}.`,
  /** @param {string} stringify */
  default: (stringify) => `default ${stringify}`,
  takesEffectNext: "It takes effect with the next start of the gateway.",
  youEndedWait: "You ended the wait before the gateway had answered.",
  stoppedLabel: "Stopped",
  answerInterruptedHere: "The answer was interrupted here",
  picture: "picture",
  file: "file",
  tool: "tool",
  days: { one: "# day", other: "# days" },
  tokens: { one: "# token", other: "# tokens" },
  runs: { one: "# run", other: "# runs" },
  noPrice: "no price",
  noTokensAny: "No tokens on any of these days.",
  /** @param {{ used: string, most: string, sayDay: string }} of */
  useMost: ({ used, most, sayDay }) => `${used} with use, at most ${most} on ${sayDay}.`,
  /** @param {string} errors */
  themFailed: (errors) => `, ${errors} of them failed`,
  unknownCost: "of unknown cost",
  /** @param {string} unpriced */
  priceNotKnown: (unpriced) => `The price of ${unpriced} is not known: the cost is at least what is shown.`,
  /** @param {{ value: string, place: string }} of */
  valueAt: ({ value, place }) => `${value} at ${place}`,
  cancel: "Cancel",
  working: "Working…",
  partPageCouldNot: "This part of the page could not be fetched. Check the connection, or reload the page.",
  showAll: "Show all",
  copy: "Copy",
  table: "Table",
  done: "done",
  open: "open",
  codeCouldNot: "The code could not be drawn: a file of this page is missing. Reload the page.",
  drawingCode: "Drawing the code",
  textTooLong: "The text is too long for a QR code.",
  /** @param {string} what */
  signNotAllowed: (what) => `This sign-in is not allowed to see ${what}.`,
  /** @param {string} plugin */
  pluginNotRunning: (plugin) => `The ${plugin} plugin is not running on this gateway.`,
  stillWaiting: "Still waiting.",
  /** @param {string} readAt */
  asOf: (readAt) => ` As of ${readAt}.`,
  /** @param {string} what */
  couldNotRead: (what) => `The ${what} could not be read.`,
  source: "Source",
  conversation: "Conversation",
  closeFile: "Close file",
  textFile: "Text of the file",
  edit: "Edit",
  copyText: "Copy text",
  fileCouldNot: "The file could not be read.",
  thereNoSuch: "There is no such file, or it is empty. It may have been moved or deleted since.",
  fileLongerThan: "The file is longer than what is shown.",
  /** @param {string} path */
  fileOf: (path) => `File ${path}`,
  pluginsNeedYou: { one: " # needs you.", other: " # need you." },
  contributions: {
    channels: { one: "# channel", other: "# channels" },
    providers: { one: "# model provider", other: "# model providers" },
    embeddings: { one: "# embedding", other: "# embeddings" },
    memoryBackends: { one: "# memory backend", other: "# memory backends" },
    tools: { one: "# tool", other: "# tools" },
    hooks: { one: "# hook", other: "# hooks" },
    hookPresets: { one: "# hook preset", other: "# hook presets" },
    methods: { one: "# method", other: "# methods" },
    routes: { one: "# HTTP route", other: "# HTTP routes" },
    commands: { one: "# command", other: "# commands" },
    services: { one: "# service", other: "# services" },
    events: { one: "# event", other: "# events" },
  },
  /** @param {string} known */
  devicesWait: (known) => ({ one: `${known}. # waits for your approval.`, other: `${known}. # wait for your approval.` }),
  /** @param {string} time */
  pairedByMachine: (time) => `paired by this machine ${time}`,
  /** @param {string} time */
  approved: (time) => `approved ${time}`,
  accountsNeedYou: { one: ", # needs you", other: ", # need you" },
  readsTextConversations: "reads the text of conversations",
  changesModelTold: "changes what the model is told",
  mayRefuseAgent: "may refuse that an agent runs",
  decidesWhoCaller: "decides who a caller is",
  answersHttpRequests: "answers HTTP requests without the gateway's secret",
  callsMethodsAdministrators: "calls methods of administrators, config writes included",
  readsWritesAgents: "reads and writes the agents' workspaces",
  startsPrograms: "starts programs",
  opensConnections: "opens connections",
  /** @param {string} time */
  voiceNoteOf: (time) => `Voice note ${time}`,
  /** @param {number} minutes */
  voiceNoteMay: (minutes) => `A voice note may have ${minutes} minutes. The recording ended there and is attached.`,
  voiceNoteSize: "A voice note of this size is the largest that a message takes. The recording ended there and is attached.",
  browserDoesNot:
    "The browser does not let this page use the microphone. Allow it in the browser's settings for this page, then try again.",
  noMicrophoneFound: "No microphone was found. Plug one in, then try again.",
  microphoneCouldNot: "The microphone could not be used. Another program may have it; close that, then try again.",
  /** @param {string} message */
  microphoneCouldNotUsed: (message) => `The microphone could not be used: ${message}.`,
  browserDoesNotSay: "the browser does not say why",
};
