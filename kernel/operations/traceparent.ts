const grammar = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/**
 * A W3C trace context as a request may carry it.
 * @returns the text when it is well-formed, else undefined: what is malformed is ignored
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function validTraceparent(text: string | undefined): string | undefined {
  const [, version, traceId = "", parentId = "", rest] = grammar.exec(text ?? "") ?? [];
  const isWhole = version !== undefined && version !== "ff" && !(version === "00" && rest !== undefined);
  return isWhole && !/^0+$/.test(traceId) && !/^0+$/.test(parentId) ? text : undefined;
}
