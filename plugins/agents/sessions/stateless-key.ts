/** Key of a request without a session of its own: of a chat completion (`openai:<uuid>`), of a response (`openresponses:<uuid>`) or of an MCP client (`mcp:<uuid>`). */
const statelessKey = /^agent:[^:]+:(?:openai|openresponses|mcp):[0-9a-f]{8}-[0-9a-f-]{27}$/;

export function isStatelessKey(key: string): boolean {
  return statelessKey.test(key);
}
