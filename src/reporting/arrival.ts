/** What is known of a request beside the standard Request. */
export interface Arrival {
  /** The client's address by the host's own rule about its proxies, else the peer of the socket. */
  remote_address: string | null
  /** The peer of the socket, where it is known apart from that. */
  peer_address?: string | null | undefined
  /** What the framework hands to its handlers: an Express request, a context of Koa or Hono, … */
  host: object
  /** What a parser of the host made of the body, where it was quicker than we are. */
  parsed?: unknown
}

/** What a callback of the host is told of a request. */
export interface ReportingRequest {
  request: Request
  /** What the framework hands to its handlers: an Express request, a context of Koa or Hono, … */
  host: object
}

/** An endpoint as a standard function. It never rejects. */
export type Answering = (request: Request, arrival: Arrival) => Promise<Response>

/** An answer of ours: JSON that nobody keeps or takes for anything else. */
export function answerJson(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, {
    status,
    headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers },
  })
}
