/**
 * The vendor's own name of a model: without a leading `<prefix>/`, such as `openai/text-embedding-3-small`.
 * @param prefixes vendor and adapter ids, without slash; one of them is cut off, once
 */
export function withoutVendor(model: string, prefixes: readonly string[]): string {
  const found = prefixes.find((prefix) => model.startsWith(`${prefix}/`) && model.length > prefix.length + 1);
  return found === undefined ? model : model.slice(found.length + 1);
}
