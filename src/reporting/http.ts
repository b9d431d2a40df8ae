/** Request data that the standard Request does not contain. */
export interface RequestOrigin {
  /** Client address according to the host's proxy settings, or the peer address of the socket. */
  remote_address: string | null
  /** Peer address of the socket, if known separately. */
  peer_address?: string | null | undefined
  /** Object that the framework passes to its handlers: an Express request, a context of Koa or Hono, … */
  host: object
  /** Result of the host's body parser, if it ran first. */
  parsed?: unknown
}

/** Argument of the host's callbacks. */
export interface ReportingRequest {
  request: Request
  /** Object that the framework passes to its handlers: an Express request, a context of Koa or Hono, … */
  host: object
}

/** Handles a standard Request. Never rejects. */
export type Endpoint = (request: Request, origin: RequestOrigin) => Promise<Response>

/** A JSON response that is neither cached nor interpreted as another type. */
export function jsonResponse(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, {
    status,
    headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers },
  })
}
