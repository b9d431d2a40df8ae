/**
 * Implementation of `faultboard/next` for the Edge runtime, for which Next.js also compiles `instrumentation`. It has
 * neither files nor sockets, so nothing is recorded.
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
  const refuse = (): Response => new Response(REFUSAL, { status: 501 })
  return { GET: refuse, HEAD: refuse, POST: refuse }
}

export function pagesDashboard() {
  return dashboard().GET
}

const REFUSAL = "The Faultboard dashboard requires the Node.js runtime. Remove `export const runtime = 'edge'` here."
