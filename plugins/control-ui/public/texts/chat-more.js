/** Texts of chat, of parts that are opened. */
export const texts = {
  fileCouldNot: "A file could not be read. It may have been changed or removed since it was attached.",
  bytes: { one: "# byte", other: "# bytes" },
  /** @param {string} what */
  picturesPdfDocuments: (what) => `is ${what}. Pictures, PDF documents, text files and recordings can be attached.`,
  unknownType: "of an unknown type",
  recordingModelConversation: "is a recording, and the model of this conversation takes no audio.",
  empty: "is empty.",
  /** @param {number} MAX_FILES */
  oneTooMany: (MAX_FILES) => `is one too many: a message takes ${MAX_FILES} files.`,
  /** @param {{ file: string, what: string, most: string }} of */
  mayHave: ({ file, what, most }) => `has ${file}. ${what} may have ${most}.`,
  picture: "A picture",
  file: "A file",
  /** @param {string} maxBytes */
  tooMuchDocuments: (maxBytes) => `is too much: documents and recordings may have ${maxBytes} together.`,
  /** @param {string} maxFrame */
  tooMuchFiles: (maxFrame) => `is too much: the files of one message may have about ${maxFrame} together.`,
  pictures: "pictures",
  pdfDocuments: "PDF documents",
  /** @param {string} words */
  modelConversationReads: (words) => `The model of this conversation reads no ${words}: it is only told that they are there.`,
  /** @param {number} round */
  kib: (round) => `${round} KiB`,
  /** @param {string} replace */
  mib: (replace) => `${replace} MiB`,
  needsAdministrator: "needs an administrator",
  needsRightApprove: "needs the right to approve",
  needsRightWrite: "needs the right to write",
  /** @param {{ key: string, messages: number, toISOString: string, what: string }} of */
  sessionMessagesExported: ({ key, messages, toISOString, what }) =>
    `Session ${key}, ${messages} messages, exported ${toISOString}${what}.`,
  olderMessagesLeft: "; older messages are left out",
  /** @param {{ toolName: string, more: string, when: string }} of */
  result: ({ toolName, more, when }) => `### Result of ${toolName}${more}, ${when}`,
  tool: "a tool",
  error: " (error)",
  stopped: "*(stopped)*",
  heartbeat: "Heartbeat",
  event: "Event",
  /** @param {string} channel */
  onChannel: (channel) => ` on ${channel}`,
  question: "Question",
  /** @param {string} what */
  answer: (what) => `Answer of ${what}`,
  note: "Note",
  sealedVendor: "(sealed by the vendor)",
  /** @param {string} name */
  callHeading: (name) => `### Call of ${name}`,
  pictureName: "picture",
  fileName: "file",
  messages: { one: "# message", other: "# messages" },
  thereNothingConversation: "there is nothing in this conversation yet",
  /** @param {{ messages: string, what: string }} of */
  exported: ({ messages, what }) => `${messages} exported${what}`,
  newestOnesConversation: ", the newest ones of this conversation",
  conversationResetWhile: "the conversation was reset while it was read; try again",
  thinking: "Thinking",
  thought: "Thought",
  summaryOlderMessages: "Summary of older messages",
  /** @param {{ id: string, channel: string }} of */
  personOnChannel: ({ id, channel }) => `${id} on ${channel}`,
  vendorModelKeeps: "The vendor of the model keeps this sealed.",
  notConnectedGateway: "Not connected to the gateway",
  moreAboutConversation: "More about this conversation",
  exportMarkdown: "Export as Markdown",
  exportJson: "Export as JSON",
  cancelExport: "Cancel the export",
  readingConversation: "Reading the conversation…",
  exportCancelled: "The export was cancelled",
  /** @param {string} message */
  notExported: (message) => `Not exported: ${message}`,
  commands: { one: "# command", other: "# commands" },
  commandsLabel: "Commands",
  models: "Models",
  /** @param {string} instead */
  answersMeanwhile: (instead) => `${instead} answers meanwhile.`,
  attachedPicture: "Attached picture",
  /** @param {string} name */
  textOfFile: (name) => `Text of ${name}`,
  image: "1 image",
  whoAnswersHere: "Who answers here",
  close: "Close",
  didNotWork: "That did not work.",
  modelConversation: "Model of this conversation",
  agentSOwn: "The agent's own",
  findModel: "Find a model",
  /** @param {{ most: number, shown: number }} of */
  someOfModels: ({ most, shown }) => `${most} of ${shown} models`,
  agent: "Agent",
  agentSOwnModel: "The agent's own model answers from here on",
  /** @param {string} model */
  answersHere: (model) => `${model} answers from here on`,
  firstOneReady: "the first one that is ready",
  noKeyYet: "has no key yet",
  keyRefused: "its key was refused",
  restsAfterFailures: "rests after failures; others answer until then",
  pdf: "PDF",
  /** @param {string} contextWindow */
  readsTokens: (contextWindow) => `reads ${contextWindow} tokens`,
  /** @param {string} id */
  conversation: (id) => `${id}, has this conversation`,
  beginsAnotherConversation: "begins another conversation",
  wouldYouLike: "What would you like to know?",
  answersComeYour: "Answers come from your notes and name their sources.",
  /** @param {string} what */
  thereNoNotes: (what) => `There are no notes yet. Put Markdown files into ${what}, such as router.md: they are found a moment later.`,
  writeFirstOne: "Write the first one here",
  folder: "this folder",
  folderMemoryWorkspace: "the folder memory of the workspace",
  hits: { one: "# hit", other: "# hits" },
  /** @param {string} score */
  score: (score) => `score ${score}`,
  arguments: "Arguments",
  progress: "Progress",
  errorLabel: "Error",
  resultLabel: "Result",
  running: "running",
  noResult: "no result",
  /** @param {{ firstLine: string, took: string }} of */
  failed: ({ firstLine, took }) => `failed: ${firstLine}${took}`,
  done: "done",
  attached: "Attached",
  /** @param {string} name */
  remove: (name) => `Remove ${name}`,
  /** @param {string} error */
  notSent: (error) => `Not sent. ${error}`,
  retry: "Retry",
  edit: "Edit",
  didUntilThen: "What it did until then",
  askAgain: "Ask again",
  filesNotHere: "The files are not here any more",
  filesTooLarge: "Its files are too large to be kept here: attach them again",
  questionFieldYou: "The question is in the field. What you send begins a branch; this answer stays in the other one.",
  messageNotConversation: "That message is not in this conversation",
  waiting: "Waiting for its turn",
  waitingNext: "Waiting for its turn: next",
  /** @param {number} place */
  waitingAt: (place) => `Waiting for its turn: number ${place}`,
  editingEarlier: "You edit an earlier question. What you send begins a branch in its place.",
  makingBranch: "Making a branch…",
  endInstead: "Put it at the end instead",
  /** @param {string} error */
  noBranch: (error) => `There is no branch yet, and nothing was sent. ${error}`,
  /** @param {{ at: number, of: number }} place */
  branchOf: ({ at, of }) => `Branch ${at} of ${of}`,
  previousBranch: "Previous branch",
  nextBranch: "Next branch",
  firstBranch: "This is the first branch",
  lastBranch: "This is the last branch",
  pageReloadedBefore: "The page was reloaded before its files had left. Press Edit and attach them again.",
  answeredTogetherAnother: "Answered together with another message.",
  endedWithoutAnswer: "It ended without an answer to show.",
  gatewayStoppedDuring: "The gateway stopped during this answer.",
  /** @param {string} error */
  stoppedBecause: (error) => `Stopped: ${error}`,
  stoppedBeforeThere: "Stopped before there was an answer.",
  /** @param {string} what */
  runTookToo: (what) => `The run took too long${what}`,
  /** @param {string} error */
  runFailedOf: (error) => `The run failed: ${error}`,
  questionGotNo: "This question got no answer; why is not known any more.",
  looked: "Looked at",
  questionFieldFiles: "The question is in the field. Its files were too large to be kept here: attach them again.",
  filesTooLargeKept: "Its files are too large to be kept here: use Edit and ask again",
  moreAboutAnswer: "More about this answer",
  whyDidSay: "Why did it say that",
  editAskAgain: "Edit and ask again",
  copyAddressAnswer: "Copy the address of this answer",
  addressClipboard: "The address is in the clipboard",
  readsNeither: "The model of this conversation reads no pictures and no PDF documents: it is only told that they are there.",
  recordVoiceNote: "Record a voice note",
  voiceNote: "Voice note",
  recording: "Recording",
  stopAttach: "Stop and attach",
  discard: "Discard",
  itIsRecording: "It is recording",
  pageMayUse: "A page may use the microphone over HTTPS or on the gateway's own machine only. A recording can be attached as a file.",
  browserRecordsNo: "This browser records in no form that the gateway takes. A recording can be attached as a file.",
  browserEndedRecording: "The browser ended the recording. What was said until then is attached.",
};
