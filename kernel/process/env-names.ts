/** Names that decide which code runs, where files are or where traffic goes; no file may set the first ones for this program's children. */
const loaderNames = /^(NODE_.*|LD_.*|DYLD_.*|PATH|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PYTHON.*|PERL5.*|RUBY.*|JAVA_TOOL_OPTIONS|GIT_.*)$/i;
const placeNames = /^(HOME|USERPROFILE|SHELL|USER|LOGNAME|TMPDIR|TMP|TEMP|XDG_.*|APPDATA|LOCALAPPDATA|PATHEXT|COMSPEC|SYSTEMROOT)$/i;
const trafficNames = /(^|_)(PROXY|BASE_URL|API_BASE|ENDPOINT(_URL)?|HOST|URL|ORIGIN)$|^(SSL_|OPENSSL_|REQUESTS_CA_|CURL_CA_)/i;
const credentialNames =
  /(^|_)(API_?KEYS?|ACCESS_?KEYS?(_ID)?|SECRET(_?KEYS?)?|PRIVATE_?KEYS?|KEYS?|TOKENS?|PASSWORDS?|PASSWD|PASS|CREDENTIALS?|AUTH(ORIZATION)?|COOKIES?|PROFILE)$|^(AWS|GOOGLE|AZURE)_|(SECRET|TOKEN|PASSWORD|CREDENTIAL|APIKEY|API_KEY)/i;

/** A variable whose value lets somebody in somewhere. */
export function isCredentialName(name: string): boolean {
  return credentialNames.test(name);
}

/** A variable that changes which code runs; taken from no file at all. */
export function isLoaderName(name: string): boolean {
  return loaderNames.test(name);
}

/**
 * May a `.env` in the working directory set this variable? That folder may hold a stranger's files: nothing of this
 * program, no credentials, nothing that changes code, places or the way of traffic.
 */
export function isWorkspaceName(name: string): boolean {
  return !(/^SVC_/i.test(name) || loaderNames.test(name) || placeNames.test(name) || trafficNames.test(name) || credentialNames.test(name));
}
