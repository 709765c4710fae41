// The client under test, as the conformance suite starts it: `node conformance-client.mjs <address of the test> <address of the server>`. The test has the
// gateway; this asks it to connect to the server and to use it, and ends when it has.
const [test, server] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const response = await fetch(test, { method: "POST", body: JSON.stringify({ scenario, server, context }) });
process.stdout.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
