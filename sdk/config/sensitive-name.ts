const telling =
  /(token|password|passwd|passphrase|passcode|secret|(api|private|signing|access|secret|encryption|master|shared|auth|hmac)[-_]?key|credential|authorization|bearer|cookie)s?$/i;
const countsTokens = /(max|context|total|input|output|min|limit)tokens?$/i;
/** Short words that end many harmless names (`bypass`, `oauth`): they count as a word of their own only. */
const shortTelling = /(?:(?:^|[-_.])(?:pass|pat|auth|PASS|PAT|AUTH|pwd)|(?:^|[a-z0-9])(?:Pass|Pat|Auth|Pwd))$/;
/** Values of `auth` that are not secret: the method of authentication. */
const wayOfAuth =
  /^(none|off|on|aws-sdk|auto|default|optional|required|anonymous|basic|bearer|digest|token|password|plain|login|oauth2?|oidc|api-?key|m?tls|ntlm|kerberos|external|gateway|plugin|operator|trusted-proxy|(sasl|scram|cram)(-[a-z0-9-]{1,12})?)$/i;

/** Does the name of a key speak of a secret? `maxTokens` and the like do not. */
export function isSensitiveName(name: string): boolean {
  return telling.test(name) && !countsTokens.test(name);
}

/** Is this text under this name a secret, where nobody knows the key? Names such as `pass` and `auth` speak of texts, not of sections. */
export function isSensitiveText(name: string, text: string): boolean {
  return isSensitiveName(name) || (shortTelling.test(name) && !wayOfAuth.test(text));
}
