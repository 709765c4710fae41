/** Texts of sign-in. */
export const texts = {
  /** @param {string} field */
  gatewayRefusedCheck: (field) => `The gateway refused this ${field}. Check that it is complete and belongs to this gateway.`,
  codeBeenUsed: "This code has been used, or has run out. Show a new one where you are signed in, or sign in with the gateway's secret.",
  tooManyFailed: "Too many failed attempts from this address. The gateway refuses further ones until the time is over.",
  addressNotAllowed: "This address is not allowed yet",
  gatewayAcceptsPages:
    "The gateway accepts pages from its own addresses only. To allow this one, add the line to its config file, then try again:",
  waitingApproval: "Waiting for approval",
  browserNewGateway: "This browser is new to the gateway. Approve it on the gateway's machine; this page then continues by itself:",
  browserSOwn: "This browser's own token is not valid any more. Sign in with the gateway's secret.",
  pageNeedsHttps: "This page needs HTTPS or a tunnel",
  anotherMachineGateway:
    "From another machine the gateway accepts paired devices only, and a browser cannot prove that it is one over plain HTTP. Use HTTPS, or a tunnel that makes this browser local; run it, then open the address it forwards:",
  newVersionRunning: "A new version is running",
  pageOlderNewer: "This page is older or newer than the gateway. Reload it.",
  gatewaySSecret: "The gateway's secret was changed. Sign in with the new one.",
  gatewayRefusedConnection: "The gateway refused the connection",
  signGateway: "Sign in to this gateway",
  /** @param {string} word */
  gateway: (word) => `Gateway ${word}`,
  machineGatewayPrints: "On the machine of the gateway this prints an address that signs you in:",
  gatewayDoesNot: "The gateway does not answer",
  pageKeepsTrying: "This page keeps trying. If the gateway is not running, start it:",
  tryNow: "Try now",
  reload: "Reload",
  tryAgain: "Try again",
  token: "token",
  password: "password",
  tokenPassword: "token or password",
  /** @param {number} left */
  waitS: (left) => `Wait ${left} s`,
  connect: "Connect",
};
