/**
 * Implementation of `faultboard/next` for the Edge runtime, for which Next.js also compiles `instrumentation`. That
 * runtime has neither files nor sockets, so nothing is recorded.
 */
export function register(): void {}

export function onRequestError(): void {}

export function captureRequestError(): () => void {
  return onRequestError
}

export function withFaultboard<Handler>(handler: Handler): Handler {
  return handler
}

export function dashboard() {
  const reject = (): Response => new Response(EDGE_MESSAGE, { status: 501 })
  return { GET: reject, HEAD: reject, POST: reject }
}

export function pagesDashboard() {
  return dashboard().GET
}

const EDGE_MESSAGE =
  "The Faultboard dashboard requires the Node.js runtime. Remove `export const runtime = 'edge'` here."
