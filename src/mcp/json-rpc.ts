const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

export class Failure {
  readonly code: number
  readonly message: string

  constructor(code: number, message: string) {
    this.code = code
    this.message = message
  }
}

export function failed(code: number, message: string): Failure {
  return new Failure(code, message)
}

/** Maximum number of messages in one batch. */
const MOST_AT_ONCE = 100

/** A line, or the reason why it has no text. */
export interface RequestLine {
  text: string | null
  why?: string
}

/** Response to a line of JSON-RPC 2.0, or null if it needs none. */
export async function answerLine({ text, why }: RequestLine, server: Server): Promise<object | null> {
  if (text === null) return answer(null, failed(PARSE_ERROR, `Cannot read this line: ${why}`))
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return answer(null, failed(PARSE_ERROR, 'Not valid JSON'))
  }
  if (!Array.isArray(message)) return answerMessage(message, server)
  if (message.length === 0 || message.length > MOST_AT_ONCE) {
    return answer(null, failed(INVALID_REQUEST, `A batch must contain 1 to ${MOST_AT_ONCE} messages`))
  }
  const answers = await Promise.all(message.map((one) => answerMessage(one, server)))
  const wanted = answers.filter((one) => one !== null)
  return wanted.length > 0 ? wanted : null
}

async function answerMessage(message: unknown, server: Server): Promise<object | null> {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return answer(null, failed(INVALID_REQUEST, 'A message must be an object'))
  }
  const { jsonrpc, id, method, params } = message as Record<string, unknown>
  // A response to a request that was never sent.
  if (method === undefined && ('result' in message || 'error' in message)) return null
  const is_known_id = typeof id === 'string' || typeof id === 'number'
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && !is_known_id)) {
    return answer(is_known_id ? id : null, failed(INVALID_REQUEST, 'Not a JSON-RPC 2.0 request'))
  }
  if (!is_known_id) return null
  return answer(id, await server(method, params).catch(() => failed(INTERNAL_ERROR, 'Internal error in Faultboard')))
}

function answer(id: string | number | null, result: object | Failure): object {
  if (result instanceof Failure) return { jsonrpc: '2.0', id, error: { code: result.code, message: result.message } }
  return { jsonrpc: '2.0', id, result }
}

/** Handles one request and returns a result or a failure of the protocol. */
export type Server = (method: string, params: unknown) => Promise<object | Failure>
