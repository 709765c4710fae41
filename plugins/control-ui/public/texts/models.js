/** Texts of models. */
export const texts = {
  providers: { one: "# provider", other: "# providers" },
  runs: { one: "# run", other: "# runs" },
  tokens: { one: "# token", other: "# tokens" },
  ready: "ready",
  quotesNotes: "quotes notes",
  cooldown: "in cooldown",
  keyRejected: "key rejected",
  doesNotAnswer: "does not answer",
  cannotUsed: "cannot be used",
  notOffered: "not offered",
  noModel: "no model",
  /** @param {string} until */
  triedAgain: (until) => `Tried again in ${until}.`,
  /** @param {string} number */
  noModelAnswers: (number) => `${number}. No model answers.`,
  /** @param {{ number: string, agentId: string }} of */
  noLanguageModel: ({ number, agentId }) => `${number}. No language model answers: ${agentId} quotes its notes.`,
  /** @param {{ number: string, agentId: string, name: string }} of */
  answered: ({ number, agentId, name }) => `${number}. ${agentId} is answered by ${name}.`,
  /** @param {{ number: string, agentId: string, name: string, why: string }} of */
  answeredOf: ({ number, agentId, name, why }) => `${number}. ${agentId} is answered by ${name} (${why}).`,
  /** @param {{ number: string, agentId: string, why: string }} of */
  noModelAnswersOf: ({ number, agentId, why }) => `${number}. No model answers ${agentId} (${why}).`,
  primary: "primary",
  /** @param {number} i */
  fallback: (i) => `fallback ${i}`,
  vision: "vision",
  audio: "audio",
  pdf: "PDF",
  /** @param {string} window */
  context: (window) => `${window} context`,
  reasoning: "reasoning",
  noKey: "no key",
  /** @param {string} alias */
  alias: (alias) => `alias ${alias}`,
  noPrice: "no price",
  /** @param {number} latencyMs */
  ms: (latencyMs) => `${latencyMs} ms`,
  /** @param {{ replaceAll: string, took: string, error: string }} of */
  noAnswer: ({ replaceAll, took, error }) => `No answer (${replaceAll}, ${took}): ${error}`,
  /** @param {{ input: string, output: string }} of */
  tokensInOut: ({ input, output }) => `, ${input} in, ${output} out`,
  /** @param {{ took: string, tokens: string, text: string }} of */
  answeredIn: ({ took, tokens, text }) => `Answered in ${took}${tokens}: “${text}”`,
  vendorDoesNot: "The vendor does not take this key. Copy it again, or make a new one.",
  serverRunningAddress: "Is the server running, and is the address right as the gateway's machine sees it?",
  tookTooLong: "It took too long. A local model may have to be loaded first: test it again.",
  thereNoModel: "There is no model of this name. Leave the name empty to take the first one that is listed.",
  vendorSLimit: "The vendor's limit is reached: look at the account there.",
  writtenDownForce: "It is written down, and in force after a restart of the gateway: svc gateway restart",
  /** @param {{ id: string, why: string }} of */
  writtenDownBut: ({ id, why }) => `“${id}” is written down, but no plugin offers it: ${why}.`,
  seePlugins: "see the plugins",
  /** @param {{ id: string, what: string }} of */
  offersNoModel: ({ id, what }) => `“${id}” offers no model: ${what}. Name one, or fix that, and test again.`,
  serverListsNone: "its server lists none",
  /** @param {string} id */
  setUpAlready: (id) => `“${id}” is set up already. Test it in the list, or remove it there first.`,
  keyMissing: "The key is missing.",
  keyNoSpaces: "A key has no spaces in it. Copy it again.",
  smallLettersDigits: "Small letters, digits, dots, _ and -, as lab.",
  addressHttpHost: "An address as http://host:8000/v1, without a user or a password.",
  pathGatewayS: "A path on the gateway's machine, or hf:owner/repo/file.gguf.",
  addProvider: "Add a provider",
  /** @param {{ ref: string, more: string }} of */
  answeredText: ({ ref, more }) => `${ref} answered${more}.`,
  answersDefaultNow: ", and answers by default now",
  kind: "Kind",
  model: "Model",
  onceAnsweredAnswers: "Once it has answered, it answers by default",
  vendor: "Vendor",
  nameHere: "Name here",
  lab: "lab",
  address: "Address",
  httpV: "http://…/v1",
  runsThere: "What runs there",
  file: "File",
  modelsNameGguf: "~/models/name.gguf",
  gatewaySMachine: "On the gateway's machine, or",
  whichDownloadedFirst: ", which is downloaded first. The runtime is installed once, by the command",
  key: "Key",
  goesIntoGateway: "It goes into the gateway's config and is never shown again.",
  vendorKey: "A vendor, with a key",
  addressYourOwn: "An address of your own",
  machine: "On this machine",
  fileCalled: "as the file is called",
  vendorSUsual: "the vendor's usual one",
  firstLists: "the first that it lists",
  /** @param {number | undefined} port */
  usualOnePort: (port) => `the usual one, port ${port}`,
  setEmptyKeeps: "set; empty keeps it",
  ifWantsOne: "if it wants one",
  addModel: "Add a model",
  untilOneAdded:
    "Until one is added, answers quote your notes. A key of a vendor, an address of your own, or a server on the gateway's machine is enough.",
  models: "Models",
  done: "Done",
  setUpAlreadyBut: "Set up already, but of no use yet:",
  fixModels: "Fix it in Models",
  /** @param {string} ref */
  answers: (ref) => `${ref} answers`,
  noLanguageModelYet: "No language model yet",
  askYourFirst: "Ask your first question below.",
  doesNotAnswerDefault: "It does not answer by default: make it so in Models.",
  removeAgain: "Remove it again",
  saving: "Saving…",
  testing: "Testing…",
  removing: "Removing…",
  removedAgain: "It was removed again.",
  cancel: "Cancel",
  leave: "Leave it as it is",
  addTest: "Add and test",
  testAgain: "Test again",
  saveTest: "Save and test",
  loadingModels: "Loading models",
  serverListsNo: "Its server lists no model, and the config names none.",
  nameModel: "Name of a model",
  noModelMatches: "No model matches.",
  /** @param {{ rows: string, found: string }} of */
  someOf: ({ rows, found }) => `${rows} of ${found}`,
  showMore: "Show more",
  test: "Test",
  makeDefault: "Make default",
  /** @param {string} provider */
  searchModels: (provider) => `Search models of ${provider}`,
  /** @param {string} provider */
  modelsOf: (provider) => `Models of ${provider}`,
  /** @param {string} provider */
  showMoreModels: (provider) => `Show more models of ${provider}`,
  /** @param {string} id */
  testOf: (id) => `Test ${id}`,
  /** @param {string} id */
  makeDefaultOf: (id) => `Make default: ${id}`,
  whatModels: "models",
  modelsInUse: "Models in use",
  agents: "Agents",
  pictures: "Pictures",
  default: "default",
  modelSessionWhere: "The model of the session, where it has vision. Another one: plugins.entries.tools-web.config.image.model",
  noProviderYet: "No provider yet",
  answersQuoteYour:
    "Answers quote your notes until a language model is there. A key of a vendor, an address or a server on the gateway's machine is enough.",
  providersLabel: "Providers",
  usageModel: "Usage by model",
  /** @param {number} USAGE_DAYS */
  usageLastDays: (USAGE_DAYS) => `Usage is that of the last ${USAGE_DAYS} days.`,
  /** @param {string} message */
  listsModelsCould: (message) => `The lists of models could not be read: ${message}`,
  setUpBut: "Set up, but not used",
  remove: "Remove",
  nobodyNamesModel: "Nobody names a model: the first provider that is ready answers.",
  /** @param {string} setBy */
  setBy: (setBy) => `Set by ${setBy}.`,
  notConnectedGateway: "Not connected to the gateway",
  checking: "Checking…",
  checkServers: "Check servers",
  /** @param {string} provider */
  removeOf: (provider) => `Remove ${provider}`,
  setKey: "Set key",
  replaceKey: "Replace key",
  askingOneWord: "Asking for one word…",
  /** @param {string} word */
  partly: (word) => `partly ${word}`,
  /** @param {string} keySource */
  keyFrom: (keySource) => `key from ${keySource}`,
  noModelKnown: "No model of it is known yet",
  /** @param {{ keyWord: string, id: string }} of */
  keyOf: ({ keyWord, id }) => `${keyWord} of ${id}`,
  /** @param {string} id */
  removeText: (id) => `Remove ${id}`,
  /** @param {{ provider: string, model: string }} of */
  place: ({ provider, model }) => ` in the place of ${provider}/${model}`,
  /** @param {string} ref */
  answer: (ref) => `Answer with ${ref}?`,
  /** @param {string} instead */
  answersAllAgents: (instead) => `It answers all agents without a model of their own${instead}, from the next message on. Fallbacks stay.`,
  makeItTheDefault: "Make it the default",
  /** @param {{ ref: string, others: string }} of */
  answersDefaultAfter: ({ ref, others }) => `${ref} answers by default after a restart.${others}`,
  /** @param {{ ref: string, others: string }} of */
  answersDefaultNowOf: ({ ref, others }) => `${ref} answers by default now.${others}`,
  noAgentAnswered: "No agent is answered by it.",
  /** @param {string} agents */
  answeredTheirOther: (agents) => `Answered by it: ${agents}. Their other models answer then, or the first provider that is ready.`,
  /** @param {string} id */
  removeQuestion: (id) => `Remove ${id}?`,
  /** @param {string} used */
  keyAddressSettings: (used) => `Its key, its address and its settings are deleted from the config. ${used}`,
  /** @param {string} id */
  removedAfterRestart: (id) => `${id} is removed after a restart.`,
  /** @param {string} id */
  removed: (id) => `${id} was removed.`,
  /** @param {string} agents */
  keepTheirOwn: (agents) => ({ one: ` ${agents} keeps a model of their own.`, other: ` ${agents} keep models of their own.` }),
  llamaServer: "llama.cpp server",
  modelFile: "A model file (GGUF)",
  /** @param {string} seconds */
  seconds: (seconds) => `${seconds} s`,
};
