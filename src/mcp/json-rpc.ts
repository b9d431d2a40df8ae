const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

export class ProtocolError {
  readonly code: number
  readonly message: string

  constructor(code: number, message: string) {
    this.code = code
    this.message = message
  }
}

export function protocolError(code: number, message: string): ProtocolError {
  return new ProtocolError(code, message)
}

/** Maximum number of messages in one batch. */
const MAX_BATCH_SIZE = 100

/** Line of input, or the reason why it could not be read. */
export interface RequestLine {
  text: string | null
  reason?: string
}

/** Returns the response to a JSON-RPC 2.0 line, or null if the line needs none. */
export async function respondToLine({ text, reason }: RequestLine, server: Server): Promise<object | null> {
  if (text === null) return toResponse(null, protocolError(PARSE_ERROR, `Cannot read this line: ${reason}`))
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return toResponse(null, protocolError(PARSE_ERROR, 'Not valid JSON'))
  }
  if (!Array.isArray(message)) return respondToMessage(message, server)
  if (message.length === 0 || message.length > MAX_BATCH_SIZE) {
    return toResponse(null, protocolError(INVALID_REQUEST, `A batch must contain 1 to ${MAX_BATCH_SIZE} messages`))
  }
  const responses = await Promise.all(message.map((item) => respondToMessage(item, server)))
  const sent = responses.filter((item) => item !== null)
  return sent.length > 0 ? sent : null
}

async function respondToMessage(message: unknown, server: Server): Promise<object | null> {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return toResponse(null, protocolError(INVALID_REQUEST, 'A message must be an object'))
  }
  const { jsonrpc, id, method, params } = message as Record<string, unknown>
  // A response to a request that was never sent.
  if (method === undefined && ('result' in message || 'error' in message)) return null
  const isValidId = typeof id === 'string' || typeof id === 'number'
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !isValidId)) {
    return toResponse(isValidId ? id : null, protocolError(INVALID_REQUEST, 'Not a JSON-RPC 2.0 request'))
  }
  if (!isValidId) return null
  return toResponse(
    id,
    await server(method, params).catch(() => protocolError(INTERNAL_ERROR, 'Internal error in Faultboard')),
  )
}

function toResponse(id: string | number | null, result: object | ProtocolError): object {
  if (result instanceof ProtocolError)
    return { jsonrpc: '2.0', id, error: { code: result.code, message: result.message } }
  return { jsonrpc: '2.0', id, result }
}

/** Handles one request and returns a result or a protocol error. */
export type Server = (method: string, params: unknown) => Promise<object | ProtocolError>
