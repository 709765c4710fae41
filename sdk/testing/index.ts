export { eventually } from "./eventually.ts";
export { createTestGateway, type TestGateway, type TestGatewayOptions } from "./gateway.ts";
