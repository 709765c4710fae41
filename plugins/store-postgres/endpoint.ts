/** Location of the database without its secrets: user, password and parameters are left out. */
export function toEndpoint(url: string, schema: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `postgres://${host}${pathname}#${schema}`;
  } catch {
    // Several hosts stand in one address for a driver that tries them in turn.
    const hosts = /@([^/@]+)(\/[^?#]*)?/.exec(url) ?? /^[a-z]+:\/\/([^/@]+)(\/[^?#]*)?/.exec(url);
    return `postgres://${hosts?.[1] ?? "?"}${hosts?.[2] ?? ""}#${schema}`;
  }
}
