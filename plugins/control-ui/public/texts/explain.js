/** Texts of explain. */
export const texts = {
  toolCalls: { one: "# tool call", other: "# tool calls" },
  requests: { one: "# request", other: "# requests" },
  tokens: { one: "# token", other: "# tokens" },
  calls: { one: "# call", other: "# calls" },
  pictureFiles: { one: "# picture or file", other: "# pictures and files" },
  /** @param {number} round */
  ms: (round) => `${round} ms`,
  noModel: "No model",
  /** @param {{ who: string, did: string, time: string, requests: string, calls: string, total: string, cost: string }} of */
  summary: ({ who, did, time, requests, calls, total, cost }) => `${who} ${did} in ${time}: ${requests}${calls}, ${total}, ${cost}.`,
  answered: "answered",
  askedFailed: "was asked and failed",
  unknownCost: "of unknown cost",
  webhook: "By a webhook",
  heartbeat: "By a heartbeat",
  job: "By a job",
  stopped: "stopped",
  /** @param {string} more */
  notAsked: (more) => `not asked${more}`,
  /** @param {{ fault: string, more: string }} of */
  failed: ({ fault, more }) => `failed (${fault})${more}`,
  /** @param {string} toolCalls */
  wanted: (toolCalls) => `wanted ${toolCalls}`,
  /** @param {string} finish */
  ended: (finish) => `ended: ${finish}`,
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
  notStoredFull: "not stored in full",
  /** @param {string} text */
  characters: (text) => `${text} characters`,
  inLabel: "In",
  cache: "From the cache",
  intoCache: "Into the cache",
  out: "Out",
  all: "All",
  cost: "Cost",
  tokensIn: "Tokens in",
  tokensOut: "Tokens out",
  allTokens: "All tokens",
  notKnown: "not known",
  time: "Time",
  toolCallsLabel: "Tool calls",
  same: "same",
  someTool: "a tool",
  /** @param {string} tool */
  wantedCallOther: (tool) =>
    `It wanted to call ${tool} with other arguments than the run did. Nothing was run, so there is no result to go on with.`,
  calledToolsUntil: "It called tools until its turns were used up.",
  timeLimitReplay: "The time limit of the replay has passed.",
  /** @param {string} what */
  modelFailed: (what) => `The model failed${what}`,
  otherMessages: { one: "# other message", other: "# other messages" },
  places: { one: "# place", other: "# places" },
  whyDidSay: "Why did it say that",
  backConversation: "Back to the conversation",
  runFailed: "The run failed.",
  allSessions: "All sessions",
  stepsAnswer: "steps of this answer",
  asked: "Asked",
  question: "Question",
  /** @param {{ agentId: string, titleOfKey: string, more: string }} of */
  agent: ({ agentId, titleOfKey, more }) => `Agent ${agentId}, ${titleOfKey}${more}`,
  answeredLabel: "Answered",
  answer: "Answer",
  sources: "Sources",
  noMemorySearched: "No memory was searched, or nothing was found.",
  score: "Score",
  tools: "Tools",
  arguments: "Arguments",
  noLongerStored: "It is no longer stored.",
  requestsModels: "Requests to models",
  requestsModelsTable: "Requests to models, as a table",
  model: "Model",
  turn: "Turn",
  waited: "Waited",
  took: "Took",
  messages: "Messages",
  tokensLabel: "Tokens",
  tokensCost: "Tokens and cost",
  /** @param {{ what: string, total: string }} of */
  beside: ({ what, total }) => `${what}: ${total} beside.`,
  remarks: "Remarks",
  remarkPlugin: "Remark of a plugin",
  noText: "(no text)",
  /** @param {string} joined */
  together: (joined) => `; together with ${joined}`,
  callFailed: "failed",
  done: "done",
  /** @param {number} turn */
  inTurn: (turn) => `turn ${turn}`,
  /** @param {string} took */
  waiting: (took) => `${took} of it waiting`,
  /** @param {string} name */
  argumentsOf: (name) => `Arguments of ${name}`,
  error: "Error",
  result: "Result",
  /** @param {string} name */
  resultOf: (name) => `Result of ${name}`,
  summaryOlderMessages: "A summary of older messages",
  notesBeforeSummary: "Notes before a summary",
  questionPlugin: "A question of a plugin",
  toolCount: { one: "# tool", other: "# tools" },
  prompt: "Prompt",
  instructions: "Instructions",
  turnRun: "Turn of the run",
  /** @param {number} turn */
  turnOf: (turn) => `Turn ${turn}`,
  toolsOffer: "Tools on offer",
  /** @param {string} first */
  olderMessages: (first) => `${first} older messages`,
  /** @param {number} min */
  showMore: (min) => `Show ${min} more`,
  /** @param {{ messages: string, messageCount: string }} of */
  messagesOf: ({ messages, messageCount }) => `${messages} of ${messageCount} messages.`,
  reasoning: "Reasoning",
  call: "Call of",
  /** @param {string} thinking */
  thinking: (thinking) => `, thinking ${thinking}`,
  sentButSecrets: "As it was sent, but for secrets, which are masked, and pictures.",
  notAllSent: "Not all of it is as it was sent:",
  /** @param {string} systemChars */
  charactersOf: (systemChars) => `${systemChars} characters`,
  /** @param {string} name */
  description: (name) => `Description of ${name}`,
  /** @param {string} role */
  message: (role) => `Message of ${role}`,
  askAnotherModel: "Ask another model",
  getsSamePrompt:
    "It gets the same prompt. No tool runs: what the tools answered then is used again. Nothing is stored in the conversation or sent to anybody; the tokens count.",
  stopWaiting: "Stop waiting",
  replayDidNot: "The replay did not work.",
  comparison: "Comparison",
  answerRun: "Answer of the run",
  answerReplay: "Answer of the replay",
  differences: "Differences",
  figure: "Figure",
  run: "Run",
  replay: "Replay",
  difference: "Difference",
  answeredText: " (answered)",
  nameModelFirst: "Name a model first",
  asking: "Asking…",
  /** @param {string} model */
  noAnswer: (model) => `${model} has no answer.`,
  bothAnswersSame: "Both answers are the same.",
  answersDiffer: "The answers differ.",
  theRun: "The run",
  providerModel: "provider/model",
  /** @param {string} seconds */
  seconds: (seconds) => `${seconds} s`,
  /** @param {number} minutes */
  minutes: (minutes) => `${minutes} min`,
  /** @param {{ minutes: number, seconds: number }} of */
  minutesSeconds: ({ minutes, seconds }) => `${minutes} min ${seconds} s`,
};
