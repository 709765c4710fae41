/** Texts of mcp. */
export const texts = {
  servers: { one: "# server", other: "# servers" },
  tools: { one: "# tool", other: "# tools" },
  connecting: "connecting",
  connected: "connected",
  triesAgain: "tries again",
  needsLogin: "needs a login",
  closed: "closed",
  misconfigured: "misconfigured",
  agentsHaveNo: "Agents have no tools of other servers.",
  /** @param {{ ready: string, servers: string, tools: string }} of */
  connectedAgents: ({ ready, servers, tools }) => `${ready} of ${servers} connected, ${tools} for agents.`,
  agentsHaveNone: "Agents have none of its tools now.",
  /** @param {string} tools */
  agentsLoseOnce: (tools) => `Agents lose ${tools} at once.`,
  /** @param {{ lost: string, more: string }} of */
  settingsSecretsGo: ({ lost, more }) => `${lost} Its settings and secrets go from the config.${more}`,
  loginKeptUntil: " Its login is kept until you log out.",
  smallLetterThen: "A small letter, then up to 31 of a-z, 0-9, _ and -.",
  thereServerName: "There is a server of this name.",
  writeCommandStarts: "Write the command that starts it.",
  httpHttpsAddress: "An http or https address, without a user in it.",
  authorizationBearerSvc: "Authorization: Bearer $SVC_GATEWAY_TOKEN",
  addServer: "Add a server",
  howReached: "How it is reached",
  personAsked: "A person is asked",
  cancel: "Cancel",
  runsGatewayS:
    "It runs on the gateway's machine with the rights of the gateway. Secrets belong into its environment: add them afterwards, under Settings.",
  headersSecretsCan: "Headers with secrets can be added afterwards, under Settings. If it wants a login, a button for it appears.",
  program: "A program",
  address: "An address",
  beforeCallsTools: "before calls of tools that do not say that they only read",
  beforeEachCall: "before each call",
  name: "Name",
  command: "Command",
  addressLabel: "Address",
  httpsAddressServer: "https address of the server",
  notConnectedGateway: "Not connected to the gateway",
  adding: "Adding…",
  add: "Add",
  /** @param {string} server */
  logInAt: (server) => `Log in at ${server}`,
  gatewayAsksServer: "The gateway asks the server where to log in. You agree there, in a tab of its own.",
  portAddressClient: "Port of the address that the client is registered with",
  agreeThereBrowser: "Agree there. The browser then ends at an address of this machine, 127.0.0.1, that shows nothing.",
  copyWholeAddress: "Copy that whole address and paste it here:",
  openLogin: "Open the login",
  copyAddress: "Copy its address",
  /** @param {string} server */
  asksNoLogin: (server) => `${server} asks for no login.`,
  thereNoAnswer: "There is no answer in this. Paste the whole address that the browser ended at.",
  /** @param {string} server */
  logged: (server) => `Logged in at ${server}.`,
  working: "Working…",
  begin: "Begin",
  finish: "Finish",
  mcpServers: "MCP servers",
  serverList: "Server list",
  noMcpServers: "No MCP servers yet",
  serverModelContext: "A server of the Model Context Protocol gives agents its tools, such as files, a tracker or a browser.",
  formCouldNot: "The form could not be fetched. Try again when the gateway is there.",
  approvals: { one: "# approval", other: "# approvals" },
  loggedIn: "logged in",
  logIn: "Log in",
  asksPerson: "Asks a person",
  settings: "Settings",
  takeBackApprovals: "Take back approvals",
  remove: "Remove",
  offersNoTools: "It offers no tools now.",
  toolsAgentsSee: "Tools, as agents see them",
  logOut: "Log out",
  /** @param {string} name */
  beingConnectedAnew: (name) => `${name} is being connected anew.`,
  /** @param {string} name */
  loggedOut: (name) => `Logged out of ${name}.`,
  /** @param {string} name */
  thereNoLogin: (name) => `There was no login at ${name}.`,
  /** @param {string} name */
  takeBackApprovalsTools: (name) => `Take back approvals for the tools of ${name}?`,
  answersAlwaysForgotten: "Answers “for always” are forgotten: the next call asks a person again.",
  takeBack: "Take back",
  /** @param {string} what */
  takenBack: (what) => `${what} taken back.`,
  /** @param {string} name */
  removeOf: (name) => `Remove ${name}?`,
  programLabel: "Program",
  /** @param {string} name */
  logInTo: (name) => `Log in: ${name}`,
  /** @param {string} name */
  reconnect: (name) => `Reconnect: ${name}`,
  reconnectLabel: "Reconnect…",
  reconnectNow: "Reconnect",
  notKnown: "not known",
  /** @param {string} name */
  settingsOf: (name) => `Settings: ${name}`,
  /** @param {string} name */
  logOutOf: (name) => `Log out: ${name}`,
  /** @param {string} name */
  takeBackApprovalsOf: (name) => `Take back approvals: ${name}`,
  /** @param {string} name */
  removeText: (name) => `Remove: ${name}`,
  never: "never",
  gatewayServer: "This gateway as a server",
  clientsProtocolSuch: "Clients of the protocol, such as editors, reach notes, conversations and agents here.",
  toolsClients: "tools for clients",
  /** @param {string} problem */
  noClientCan: (problem) => `No client can be served now: ${problem}`,
  clientTakesAddress: "A client that takes an address",
  clientStartsPrograms: "A client that starts programs",
  policyToolsLets: "The policy of tools lets none through.",
  mayAct: " It may act.",
};
