/** Texts of chat. */
export const texts = {
  runFailed: "The run failed",
  /** @param {string} used */
  tokensModelDoes: (used) => `${used} tokens; the model does not say how many it reads`,
  /** @param {{ used: string, most: string, more: string }} of */
  tokensLastRequest: ({ used, most, more }) => `${used} of ${most} tokens in the last request and its answer${more}`,
  olderMessagesWill: "; older messages will be summed up soon",
  moreAboutConversation: "More about this conversation",
  contextUsed: "Context used",
  ownModel: "its own model",
  /** @param {{ agentId: string, model: string }} of */
  chooseAgentModel: ({ agentId, model }) => `${agentId}, ${model}: choose agent and model`,
  /** @param {number} used */
  tokens: (used) => `${used} tokens`,
  write: "Write",
  message: "Message",
  /** @param {string} blocked */
  youWriteKept: (blocked) => `${blocked}. What you write is kept.`,
  send: "Send",
  attachFiles: "Attach files",
  filesAttach: "Files to attach",
  tooManyMessages: "Too many messages are waiting to be sent",
  stopping: "Stopping…",
  stop: "Stop",
  nothingSend: "Nothing to send",
  sessions: "Sessions",
  newSession: "New session",
  sessionsCouldNot: "The sessions could not be read.",
  answering: "answering",
  unread: "unread",
  conversation: "Conversation",
  memory: "Memory",
  messages: "Messages",
  /** @param {string} lastOnlineAt */
  asOf: (lastOnlineAt) => `As of ${lastOnlineAt}`,
  messagesCouldNot: "The messages could not be read.",
  latest: "Latest",
  loadingEarlierMessages: "Loading earlier messages…",
  earlierMessages: "Earlier messages",
  answeringLabel: "Answering",
  connectionLostDuring: "The connection was lost during this answer.",
  moreAboutAnswer: "More about this answer",
  copyAnswer: "Copy answer",
  sending: "Sending…",
  willSentWhen: "Will be sent when the connection is back",
  waitingFreePlace: "Waiting for a free place: next",
  /** @param {number} position */
  waitingFreePlaceNumber: (position) => `Waiting for a free place: number ${position}`,
  you: "You",
  waitingYourApproval: "Waiting for your approval",
};
