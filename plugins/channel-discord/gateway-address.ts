/** True for an address of a gateway that a token may be sent to: as safe as that of the API. */
export function isGatewayAddress(url: string, apiRoot: string): boolean {
  if (url.length > 500 || !URL.canParse(url)) return false;
  const { protocol, username, hash } = new URL(url);
  const isSafe = protocol === "wss:" || (protocol === "ws:" && new URL(apiRoot).protocol === "http:");
  return isSafe && username === "" && hash === "";
}

/** Adds version and encoding. */
export function gatewayAddress(url: string): string {
  const address = new URL(url);
  address.search = "?v=10&encoding=json";
  return address.href;
}
