import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { answerClientError } from "./listen.ts";
import { rawResponse } from "./raw-response.ts";

/** Text written to a socket that fails with this code. */
function answerTo(code: string | undefined, own: object = {}): { written: string; socket: Duplex } {
  const result = { written: "", socket: undefined as unknown as Duplex };
  result.socket = new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      result.written += chunk;
      done();
    },
  });
  Object.assign(result.socket, own);
  answerClientError(Object.assign(new Error("a secret path"), code === undefined ? {} : { code }), result.socket);
  return result;
}

test.each([
  ["HPE_HEADER_OVERFLOW", 431],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
  ["HPE_INVALID_METHOD", 400],
  [undefined, 400],
])("%s is %i with the headers of every answer, and no word about why", (code, status) => {
  const { written } = answerTo(code);
  expect(written).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z][\\w ]+\\r\\nX-Content-Type-Options: nosniff\\r\\n`));
  expect(written).toMatch(/\r\nConnection: close\r\n\r\n/);
  expect(written).not.toContain("secret");
});

test.each<[string, string | undefined, object]>([
  ["a connection that was reset", "ECONNRESET", {}],
  ["an answer that has begun", "HPE_INVALID_METHOD", { _httpMessage: { headersSent: true } }],
])("%s gets nothing more", (_, code, own) => {
  const { written, socket } = answerTo(code, own);
  expect([written, socket.destroyed]).toEqual(["", true]);
});

test("an answer without a response object carries what it is given and nothing that is not asked for", () => {
  expect(rawResponse(503, { retryAfter: 7, requestId: "abc" })).toMatch(
    /\r\nx-request-id: abc\r\nRetry-After: 7\r\n.*Service Unavailable$/s,
  );
  expect(rawResponse(404, { requestId: "a\r\nb" })).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\nContent-Type/);
});
