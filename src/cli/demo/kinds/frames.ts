/** Frames of libraries and Node.js around the frames of an application. */

/** Frames below a page of the shop that throws immediately, and below a page that throws after an `await`. */
export const REQUEST = [
  'handleRequest src/server.js `await handler(request, shop)`',
  'process.processTicksAndRejections node:internal/process/task_queues:105:5',
]
export const ASYNC_REQUEST = ['async handleRequest src/server.js `await handler(request, shop)`']

export const EXPRESS = [
  'Layer.handleRequest node_modules/router/lib/layer.js:152:17',
  'next node_modules/router/lib/route.js:157:13',
  'Route.dispatch node_modules/router/lib/route.js:117:3',
  'processParams node_modules/router/index.js:435:7',
  'process.processTicksAndRejections node:internal/process/task_queues:105:5',
]

export const FASTIFY = [
  'preHandlerCallbackInner node_modules/fastify/lib/handle-request.js:160:37',
  'preHandlerCallback node_modules/fastify/lib/handle-request.js:141:5',
  'validationCompleted node_modules/fastify/lib/handle-request.js:125:5',
  'process.processTicksAndRejections node:internal/process/task_queues:105:5',
]

export const BULLMQ = [
  'async Worker.processJob node_modules/bullmq/dist/cjs/classes/worker.js:512:28',
  'async Worker.retryIfFailed node_modules/bullmq/dist/cjs/classes/worker.js:741:24',
]

export const PG = [
  'Parser.parseErrorMessage node_modules/pg-protocol/dist/parser.js:285:98',
  'Parser.handlePacket node_modules/pg-protocol/dist/parser.js:122:29',
  'Socket.<anonymous> node_modules/pg-protocol/dist/index.js:11:42',
  'Socket.emit node:events:519:28',
  'async Client.query node_modules/pg/lib/client.js:526:17',
]

export const PG_POOL = [
  'Timeout._onTimeout node_modules/pg-pool/index.js:205:27',
  'listOnTimeout node:internal/timers:581:17',
  'process.processTimers node:internal/timers:519:7',
]

export const SOCKET = [
  'TCPConnectWrap.afterConnect [as oncomplete] node:net:1611:16',
  'TCPConnectWrap.callbackTrampoline node:internal/async_hooks:130:17',
]

export const FETCH = [
  'node:internal/deps/undici/undici:13178:13',
  'process.processTicksAndRejections node:internal/process/task_queues:105:5',
]

export const REACT = [
  'renderWithHooks node_modules/react-dom/cjs/react-dom-server.node.development.js:5662:16',
  'renderFunctionComponent node_modules/react-dom/cjs/react-dom-server.node.development.js:6096:15',
  'renderElement node_modules/react-dom/cjs/react-dom-server.node.development.js:6195:7',
]

export const UIKIT = [
  'UIApplication._run() (UIKitCore)',
  'UIApplicationMain (UIKitCore)',
  'static LarderApp.$main() (LarderApp.swift:12)',
]

export const ANDROID = [
  'android.os.Handler.dispatchMessage (Handler.java:106)',
  'android.os.Looper.loopOnce (Looper.java:205)',
  'android.app.ActivityThread.main (ActivityThread.java:8177)',
]
