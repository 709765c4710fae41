/** True for the name of an IANA time zone such as `Europe/Berlin`, as far as this machine knows them. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
