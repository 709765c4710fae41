import { AccountRefusedError } from "svc/sdk";
import { expect, test } from "vitest";
import { chooseMechanism, Scram } from "./sasl.ts";

/** Examples of RFC 5802 and RFC 7677; their nonces and salts are fixed. */
const examples = [
  {
    mechanism: "SCRAM-SHA-1",
    nonce: "fyko+d2lbbFgONRv9qkxdawL",
    challenge: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    final: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
    proof: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
  },
  {
    mechanism: "SCRAM-SHA-256",
    nonce: "rOprNGfwEbeRWgbNEkqO",
    challenge: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    final: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    proof: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
  },
];
const credentials = { username: "user", password: "pencil" };

test.each(examples)("$mechanism answers as its RFC does, and knows the server's proof from another", async (example) => {
  const scram = new Scram(example.mechanism, credentials, example.nonce);

  expect(scram.first).toBe(`n,,n=user,r=${example.nonce}`);
  expect(await scram.final(example.challenge)).toBe(example.final);
  scram.check(example.proof);
  for (const wrong of ["v=AAAA", "", example.proof.replace("v=", "v=A")]) expect(() => scram.check(wrong)).toThrow("has not shown");
});

test.each([
  ["another nonce", "r=somebody-else,s=QSXCR+Q6sek8bf92,i=4096"],
  ["no nonce of its own", "r=abc,s=QSXCR+Q6sek8bf92,i=4096"],
  ["no salt", "r=abcdef,i=4096"],
  ["too little work", "r=abcdef,s=QSXCR+Q6sek8bf92,i=1"],
  ["work for hours", "r=abcdef,s=QSXCR+Q6sek8bf92,i=2000000000"],
  ["nothing", ""],
])("a challenge with %s is not answered", async (_name, challenge) => {
  await expect(new Scram("SCRAM-SHA-1", credentials, "abc").final(challenge)).rejects.toThrow(/challenge|iterations/);
});

test("the name is written so that it cannot pass for another field", () => {
  expect(new Scram("SCRAM-SHA-1", { username: "a,b=c", password: "" }, "n").first).toBe("n,,n=a=2Cb=3Dc,r=n");
});

test.each([
  [["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"], "SCRAM-SHA-256"],
  [["SCRAM-SHA-1", "SCRAM-SHA-512"], "SCRAM-SHA-512"],
  [["PLAIN"], "PLAIN"],
])("of %j the strongest is taken", (offered, mechanism) => {
  expect(chooseMechanism(offered, true)).toBe(mechanism);
});

test("the password as it is does not go over a link that is not encrypted", () => {
  expect(() => chooseMechanism(["PLAIN"], false)).toThrow(AccountRefusedError);
  expect(() => chooseMechanism(["DIGEST-MD5"], true)).toThrow("DIGEST-MD5");
});
