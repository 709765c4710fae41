/** A question as somebody would ask it, and the sections that answer it: `<file>#<heading>`, each as good as the other parts of the answer. */
export interface Question {
  ask: string;
  answers: readonly string[];
}

/**
 * About the documentation that the package `undici` ships, written from what its sections say, in other words than theirs where people would use other words.
 * Odd and even ones are two halves: the ranking is tuned on the odd ones only. A table; it may be long.
 */
export const questions: readonly Question[] = [
  {
    ask: "How long does the HTTP client wait for a response body before it gives up?",
    answers: ["api/Client.md#Parameter: ClientOptions"],
  },
  {
    ask: "I am writing a crawler and some web servers refuse it. What should I tell them about myself?",
    answers: ["best-practices/crawling.md#Crawling"],
  },
  {
    ask: "My tests take seconds to finish because sockets stay open. Is there something I can change?",
    answers: ["best-practices/writing-tests.md#Writing tests"],
  },
  {
    ask: "Which environment variables does the proxy agent look at, and what do I need no_proxy for?",
    answers: ["api/EnvHttpProxyAgent.md#Class: EnvHttpProxyAgent"],
  },
  {
    ask: "Can I record real responses once and have them played back later in my tests?",
    answers: ["api/SnapshotAgent.md#SnapshotAgent", "api/SnapshotAgent.md#Use Cases"],
  },
  {
    ask: "How often is a request that failed tried again, and for which status codes?",
    answers: ["api/RetryHandler.md#RetryOptions", "api/RetryAgent.md#Parameter: RetryHandlerOptions"],
  },
  { ask: "What error code do I get when the connection could not be made in time?", answers: ["api/Errors.md#Errors"] },
  {
    ask: "How do I show the server a certificate of my own, so that it knows who I am?",
    answers: ["best-practices/client-certificate.md#Client certificate"],
  },
  { ask: "Are my user name and password encrypted on the way to a SOCKS proxy?", answers: ["api/Socks5ProxyAgent.md#Security Notes"] },
  { ask: "Does the SOCKS proxy do UDP as well, or only TCP?", answers: ["api/Socks5ProxyAgent.md#Compatibility"] },
  { ask: "I want to see what a websocket connection is doing. How do I get debug output?", answers: ["api/Debug.md#websocket"] },
  {
    ask: "How can I make sure that every mock I have set up was really used in the test?",
    answers: ["api/MockAgent.md#MockAgent.assertNoPendingInterceptors", "api/MockAgent.md#MockAgent.pendingInterceptors"],
  },
  {
    ask: "Please show me how to forbid all real network traffic while I am mocking.",
    answers: ["api/MockAgent.md#MockAgent.disableNetConnect"],
  },
  {
    ask: "Some hosts should still be reached for real although everything else is mocked. How do I allow that?",
    answers: ["api/MockAgent.md#MockAgent.enableNetConnect"],
  },
  {
    ask: "How do I find out which version of undici is inside my Node?",
    answers: [
      "best-practices/undici-vs-builtin-fetch.md#Background",
      "best-practices/undici-vs-builtin-fetch.md#Version compatibility",
      "README.md#Version Compatibility",
    ],
  },
  {
    ask: "May I give a FormData made by Node to a fetch that I have imported from the package?",
    answers: [
      "best-practices/undici-vs-builtin-fetch.md#Keep fetch and FormData from the same implementation",
      "README.md#Keep fetch and FormData together",
      "api/GlobalInstallation.md#Using FormData with fetch",
    ],
  },
  {
    ask: "I would like the global fetch to be the one of the package I have installed. What do I call?",
    answers: ["api/GlobalInstallation.md#install", "api/GlobalInstallation.md#Global Installation"],
  },
  { ask: "Is there a way to keep cached responses in a database on disk?", answers: ["api/CacheStore.md#SqliteCacheStore"] },
  {
    ask: "How big may the cache of responses in memory get before nothing more is stored?",
    answers: ["api/CacheStore.md#MemoryCacheStore"],
  },
  {
    ask: "I want to write a cache store of my own, maybe with Redis. What does it have to implement?",
    answers: ["api/CacheStore.md#Defining a Custom Cache Store"],
  },
  {
    ask: "Two parts of my program ask for the same thing at the same time. Can they share one request?",
    answers: ["api/Dispatcher.md#Deduplicate Interceptor"],
  },
  { ask: "Help me to get gzip and brotli bodies unpacked without doing it myself.", answers: ["api/Dispatcher.md#decompress"] },
  { ask: "Can a status of 404 or 500 be made to throw an exception?", answers: ["api/Dispatcher.md#responseError"] },
  {
    ask: "Can it remember the IP addresses of hosts, so that the name is not looked up for every request?",
    answers: ["api/Dispatcher.md#dns"],
  },
  {
    ask: "What do I use to spread requests evenly over the connections to a load balancer?",
    answers: [
      "api/RoundRobinPool.md#Class: RoundRobinPool",
      "api/RoundRobinPool.md#Use Case",
      "api/RoundRobinPool.md#Important: Backend Distribution Considerations",
    ],
  },
  {
    ask: "How do I add one more backend server to a pool that is already running?",
    answers: ["api/BalancedPool.md#BalancedPool.addUpstream"],
  },
  {
    ask: "Where can I see how many sockets of the pool are free and how many requests are waiting?",
    answers: ["api/PoolStats.md#Class: PoolStats"],
  },
  {
    ask: "What is the difference between closing a dispatcher and destroying it?",
    answers: ["api/Dispatcher.md#Dispatcher.close", "api/Dispatcher.md#Dispatcher.destroy"],
  },
  { ask: "How do I cancel a request that is already under way?", answers: ["api/Dispatcher.md#Example 2 - Aborting a request"] },
  { ask: "Why would it be faster to write the response straight into a stream of mine?", answers: ["api/Dispatcher.md#Dispatcher.stream"] },
  {
    ask: "What states does a client go through in its life, from idle until it is destroyed?",
    answers: ["api/api-lifecycle.md#State Transition Overview", "api/api-lifecycle.md#State details"],
  },
  {
    ask: "I need to know about every response and its headers without touching the code that makes the requests. What can I subscribe to?",
    answers: ["api/DiagnosticsChannel.md#undici:request:headers"],
  },
  {
    ask: "Is there an event that tells me when connecting to a server has failed?",
    answers: ["api/DiagnosticsChannel.md#undici:client:connectError", "api/Dispatcher.md#Event: 'connectionError'"],
  },
  { ask: "How do I read the cookies out of the headers of a request?", answers: ["api/Cookies.md#getCookies"] },
  { ask: "How do I make a browser forget a cookie?", answers: ["api/Cookies.md#deleteCookie"] },
  {
    ask: "I have a content type header and want its type, subtype and charset. What parses it?",
    answers: ["api/ContentType.md#parseMIMEType"],
  },
  { ask: "Can I speak HTTP/2 without TLS?", answers: ["api/H2CClient.md#Class: H2CClient"] },
  { ask: "Do websockets work over HTTP/2?", answers: ["api/WebSocket.md#Example with HTTP/2"] },
  { ask: "How can I send a ping to a websocket server?", answers: ["api/WebSocket.md#ping"] },
  {
    ask: "I would like my server-sent events to go through a dispatcher of my own. How is that done?",
    answers: ["api/EventSource.md#Using a custom Dispatcher"],
  },
  {
    ask: "How can I check the fingerprint of the certificate authority when a connection is made?",
    answers: ["api/Connector.md#Example: validate the CA fingerprint"],
  },
  {
    ask: "The server listens on a Unix domain socket. How do I reach it?",
    answers: ["api/Client.md#Parameter: ConnectOptions", "api/Connector.md#Parameter: buildConnector.BuildOptions"],
  },
  {
    ask: "The HTTP proxy wants a user name and a password. Where do I put them?",
    answers: ["best-practices/proxy.md#Connect with authentication", "api/ProxyAgent.md#Example - Basic Proxy Request with authentication"],
  },
  {
    ask: "Do plain http requests go through a CONNECT tunnel at the proxy, and can I turn that off?",
    answers: ["api/ProxyAgent.md#Parameter: ProxyAgentOptions"],
  },
  {
    ask: "How do I keep secrets like authorization headers out of the snapshots I record?",
    answers: ["api/SnapshotAgent.md#Sensitive Data in Snapshots", "api/SnapshotAgent.md#Header Filtering"],
  },
  {
    ask: "What happens when a snapshot is played back and there is nothing recorded for a request?",
    answers: ["api/SnapshotAgent.md#Missing Snapshots in Playback Mode"],
  },
  {
    ask: "I want a mock to give its answer again and again, not only the first time.",
    answers: ["api/MockPool.md#Example - Mocked request with persist enabled"],
  },
  {
    ask: "How do I let a mocked request fail with an error that I choose?",
    answers: ["api/MockPool.md#Example - Mocked request with reply with a defined error", "api/MockPool.md#Return: MockInterceptor"],
  },
  {
    ask: "Can I look at the requests a mock has received so far, with their bodies and headers?",
    answers: [
      "best-practices/mocking-request.md#Access agent call history",
      "api/MockCallHistory.md#Class: MockCallHistory",
      "api/MockAgent.md#Example - access call history on MockAgent",
    ],
  },
  {
    ask: "The reply of my mock should depend on what was posted to it. How do I do that?",
    answers: ["best-practices/mocking-request.md#Reply with data based on request"],
  },
  { ask: "How fast may my crawler go, and what about robots.txt?", answers: ["best-practices/crawling.md#Best Practices for Crawlers"] },
  {
    ask: "A connection in my test drops silently and is opened again. How do I make the test fail then?",
    answers: ["best-practices/writing-tests.md#Guarding against unexpected disconnects"],
  },
  {
    ask: "Do I have to read the whole body of a response, or may I leave it alone?",
    answers: ["README.md#Garbage Collection", "api/Dispatcher.md#Dispatcher.request"],
  },
  { ask: "Does fetch care about cross-origin rules when it runs on a server?", answers: ["README.md#CORS"] },
  { ask: "How many requests a second does it do compared to axios and got?", answers: ["README.md#Benchmarks"] },
  { ask: "How do I set one dispatcher for everything in my process?", answers: ["README.md#undici.setGlobalDispatcher"] },
  { ask: "For how long is an old major version still supported?", answers: ["README.md#Long Term Support"] },
  { ask: "What do I get back when I ask fetch not to follow redirects by itself?", answers: ["README.md#Manual Redirect"] },
  {
    ask: "Connecting takes long because the server has an IPv6 address that does not work. What is the workaround?",
    answers: ["README.md#Network address family autoselection.", "api/Client.md#Parameter: ClientOptions"],
  },
  { ask: "In which forms can I hand over the headers of a request?", answers: ["api/Dispatcher.md#Parameter: UndiciHeaders"] },
  { ask: "Is it dangerous to allow a content length that does not match the body?", answers: ["api/Client.md#Parameter: ClientOptions"] },
  { ask: "When I put several interceptors in a row, which of them is called first?", answers: ["api/Dispatcher.md#Dispatcher.compose"] },
  {
    ask: "How do I say that at most three redirects are followed?",
    answers: ["api/Dispatcher.md#redirect", "api/RedirectHandler.md#new RedirectHandler"],
  },
  {
    ask: "Can the client store responses and use them again, as cache-control allows?",
    answers: ["api/Dispatcher.md#Cache Interceptor", "README.md#Using Cache Interceptor"],
  },
  { ask: "I upload a stream with fetch and it complains about duplex. What do I have to set?", answers: ["README.md#request.duplex"] },
  { ask: "Why can I not call json on the same body twice?", answers: ["README.md#Body Mixins", "api/Fetch.md#Body Mixins"] },
  { ask: "I have raw headers as a list of buffers. What makes an object of them?", answers: ["api/Util.md#parseHeaders"] },
  { ask: "Where do I see how many requests are running on a single client?", answers: ["api/ClientStats.md#Class: ClientStats"] },
  { ask: "How do I throw away a whole named cache?", answers: ["api/CacheStorage.md#Deleting a Cache"] },
  {
    ask: "I want only a thousand recordings in memory, and have them written to disk from time to time.",
    answers: ["api/SnapshotAgent.md#Memory Management"],
  },
  {
    ask: "Calls to analytics should not end up in the recording. How do I leave them out?",
    answers: ["api/SnapshotAgent.md#URL Pattern Exclusion"],
  },
  {
    ask: "The target behind the proxy has a certificate of our own authority. How do I tunnel to it with that CA?",
    answers: ["api/ProxyAgent.md#Parameter: ProxyAgentOptions", "api/ProxyAgent.md#Example - ProxyAgent with HTTPS Tunneling"],
  },
  { ask: "Which class gives me the number of sockets a client has open?", answers: ["api/ClientStats.md#ClientStats.connected"] },
  {
    ask: "How do I pipeline several requests over one connection?",
    answers: ["api/Client.md#Parameter: ClientOptions", "README.md#Pipelining"],
  },
  { ask: "What is the largest response header the client will accept?", answers: ["api/Client.md#Parameter: ClientOptions"] },
  { ask: "How long is a socket that has nothing to do kept open?", answers: ["api/Client.md#Parameter: ClientOptions"] },
  {
    ask: "Show me an example of a connector that looks at the socket before it is used.",
    answers: ["api/Client.md#Example - Custom connector", "api/Connector.md#Example: validate the CA fingerprint"],
  },
  {
    ask: "When does a client emit that it is no longer busy?",
    answers: ["api/Client.md#Event: 'drain'", "api/Dispatcher.md#Event: 'drain'"],
  },
  {
    ask: "What arguments do I get when a socket of the client has disconnected?",
    answers: ["api/Client.md#Event: 'disconnect'", "api/Dispatcher.md#Event: 'disconnect'"],
  },
  { ask: "In HTTP/2, what happens when the server sends a GOAWAY frame?", answers: ["api/Dispatcher.md#Event: 'disconnect'"] },
  { ask: "Is it safe to check errors with instanceof?", answers: ["api/Errors.md#Errors"] },
  { ask: "When a socket error happens, how do I find out the remote address and port?", answers: ["api/Errors.md#SocketError"] },
  {
    ask: "What happens if both the upper-case and the lower-case proxy variables are set?",
    answers: ["api/EnvHttpProxyAgent.md#Class: EnvHttpProxyAgent"],
  },
  { ask: "Can I overrule the HTTP_PROXY variable in the code?", answers: ["api/EnvHttpProxyAgent.md#Parameter: EnvHttpProxyAgentOptions"] },
  {
    ask: "Who resolves host names when I go through SOCKS, my machine or the proxy?",
    answers: ["api/Socks5ProxyAgent.md#Performance Considerations", "api/Socks5ProxyAgent.md#Security Notes"],
  },
  { ask: "How do I watch the SOCKS handshake when something goes wrong?", answers: ["api/Socks5ProxyAgent.md#Debugging"] },
  { ask: "Which kinds of addresses can a SOCKS proxy be asked for, IPv6 as well?", answers: ["api/Socks5ProxyAgent.md#Address Types"] },
  {
    ask: "Only new requests should be recorded, what is there should be taken from the file. Which mode is that?",
    answers: ["api/SnapshotAgent.md#Update Mode"],
  },
  { ask: "How do I write the recorded responses to a file?", answers: ["api/SnapshotAgent.md#agent.saveSnapshots"] },
  {
    ask: "The same request gives another answer each time. Can playback do that too?",
    answers: ["api/SnapshotAgent.md#Sequential Response Handling"],
  },
  {
    ask: "Should recorded snapshots be put under version control?",
    answers: ["api/SnapshotAgent.md#2. Version Control Snapshots", "api/SnapshotAgent.md#Snapshot File Security"],
  },
  { ask: "How does recording compare with nock?", answers: ["api/SnapshotAgent.md#vs nock"] },
  { ask: "What does a snapshot file look like inside?", answers: ["api/SnapshotAgent.md#Snapshot File Format"] },
  {
    ask: "How can I switch between recording and playback with an environment variable?",
    answers: ["api/SnapshotAgent.md#Environment-Based Mode Selection"],
  },
  {
    ask: "Why are all my requests going to the same server although I use a round robin?",
    answers: ["api/RoundRobinPool.md#Important: Backend Distribution Considerations"],
  },
  {
    ask: "How is a retry done after the server has said Retry-After?",
    answers: ["api/RetryHandler.md#RetryOptions", "api/RetryAgent.md#Parameter: RetryHandlerOptions"],
  },
  {
    ask: "After how many milliseconds is the first retry made, and how does the wait grow?",
    answers: ["api/RetryHandler.md#RetryOptions", "api/RetryAgent.md#Parameter: RetryHandlerOptions"],
  },
  {
    ask: "From when on is a cached response stale, and when must it be deleted?",
    answers: ["api/CacheStore.md#Property staleAt", "api/CacheStore.md#Property deleteAt"],
  },
  {
    ask: "What does a cache store do about the Vary header?",
    answers: ["api/CacheStore.md#Property vary", "api/CacheStore.md#Cache Store"],
  },
  { ask: "How am I told that the cache has become too large?", answers: ["api/CacheStore.md#'maxSizeExceeded'"] },
  { ask: "How do I print what fetch is doing while it runs?", answers: ["api/Debug.md#fetch"] },
  {
    ask: "How can I see every header that goes over the wire before it is sent?",
    answers: ["api/DiagnosticsChannel.md#undici:client:sendHeaders"],
  },
  {
    ask: "I want to be notified when the trailers of a response have come in.",
    answers: ["api/DiagnosticsChannel.md#undici:request:trailers"],
  },
  {
    ask: "Which event is published when a websocket has been closed, and with what code?",
    answers: ["api/DiagnosticsChannel.md#undici:websocket:close"],
  },
  {
    ask: "How do I monitor how often requests have been deduplicated?",
    answers: [
      "api/DiagnosticsChannel.md#Example: Monitoring Request Deduplication",
      "api/DiagnosticsChannel.md#undici:request:pending-requests",
    ],
  },
  {
    ask: "How do I set a cookie with an expiry date on a response?",
    answers: ["api/Cookies.md#setCookie", "api/Cookies.md#Cookie interface"],
  },
  {
    ask: "What is the difference between getCookies and getSetCookies?",
    answers: ["api/Cookies.md#getSetCookies", "api/Cookies.md#getCookies"],
  },
  { ask: "How do I turn a parsed MIME type back into text?", answers: ["api/ContentType.md#serializeAMimeType"] },
  {
    ask: "Which protocols can I ask for when I open a websocket, and with which dispatcher?",
    answers: ["api/WebSocket.md#WebSocketInit", "api/WebSocket.md#new WebSocket"],
  },
  {
    ask: "Can I use a websocket as a stream with readable and writable sides?",
    answers: [
      "api/WebSocket.md#Class: WebSocketStream",
      "api/WebSocket.md#new WebSocketStream",
      "api/WebSocket.md#WebSocketStream Example",
    ],
  },
  { ask: "How do I open a named cache?", answers: ["api/CacheStorage.md#Opening a Cache"] },
  { ask: "Which classes become global when I call install?", answers: ["api/GlobalInstallation.md#Installed Classes"] },
  { ask: "When would I want to install the fetch classes globally at all?", answers: ["api/GlobalInstallation.md#Use Cases"] },
  {
    ask: "When is it not necessary to install the package, since Node has it built in?",
    answers: ["best-practices/undici-vs-builtin-fetch.md#When you do NOT need to install undici", "README.md#Use Built-in Fetch When"],
  },
  {
    ask: "Which Node release carries which version of it?",
    answers: ["best-practices/undici-vs-builtin-fetch.md#Version compatibility", "README.md#Version Compatibility"],
  },
  { ask: "How do I connect through a proxy that needs no login?", answers: ["best-practices/proxy.md#Connect without authentication"] },
  {
    ask: "How do I switch mocking off for a while and on again?",
    answers: ["api/MockAgent.md#MockAgent.deactivate", "api/MockAgent.md#MockAgent.activate"],
  },
  {
    ask: "Can the mocked origin be given as a regular expression?",
    answers: ["api/MockAgent.md#Example - Mocked request with origin regex"],
  },
  {
    ask: "A mock should answer exactly twice and then no more. How do I say that?",
    answers: ["api/MockPool.md#Example - Mocked request with times enabled"],
  },
  {
    ask: "Can a mock work out the content length of its answer by itself?",
    answers: ["api/MockPool.md#Example - Mocked request with automatic content-length calculation"],
  },
];
