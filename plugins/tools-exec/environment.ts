/** Variables every command gets from the gateway. */
const usual = ["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
/** Names that change which code a program loads, and those of svc itself, which may hold secrets. */
const forbidden = [
  /^SVC_/i,
  /^LD_/i,
  /^DYLD_/i,
  /^NODE_OPTIONS$/i,
  /^NODE_EXTRA_CA_CERTS$/i,
  /^BASH_ENV$|^ENV$|^SHELLOPTS$|^PROMPT_COMMAND$|^IFS$/i,
  /^GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*|EXTERNAL_DIFF|PAGER|EDITOR)$/i,
  /^(?:PYTHON|PERL|RUBY)(?:PATH|5LIB|LIB|OPT|5OPT|STARTUP|HOME)$/i,
];

/** A variable that no command gets, whoever wants it. */
export function isForbiddenName(name: string): boolean {
  return forbidden.some((pattern) => pattern.test(name));
}

/** Environment of a command: the usual variables, those that the config names, and those of the call. */
export function environmentFor(
  from: Readonly<Record<string, string | undefined>>,
  { names, own = {}, home }: { names: readonly string[]; own?: Readonly<Record<string, string>>; home?: string },
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [...usual, ...names]) {
    const value = from[name];
    if (value !== undefined && !isForbiddenName(name)) env[name] = value;
  }
  return { ...env, ...(home === undefined ? {} : { HOME: home }), ...own };
}
