import { type BodyLimits, bodyTooLarge, readBody } from './bounded-body.js'
import { invalidInput } from './contract.js'
import type { RequestOrigin } from './http.js'
import { isDeeperThan } from './json-depth.js'

/** Exceeds the depth of any report. Bounds the recursion of a parser. */
const MAX_DEPTH = 32

/** Parses the body within its limits. Uses the result of the host's parser as is. */
export async function jsonBody(request: Request, origin: RequestOrigin, limits: BodyLimits): Promise<unknown> {
  if (!('parsed' in origin)) return parseJson((await readBody(request, limits)).toString('utf8'))
  const { max_bytes, count } = limits
  const { parsed } = origin
  count(bodySize(request, parsed))
  // The host's parser applied its own limit, so only the declared size is checked.
  if (Number(request.headers.get('content-length') ?? 0) > max_bytes) throw bodyTooLarge(max_bytes)
  if (typeof parsed === 'string') return parseJson(parsed)
  if (Buffer.isBuffer(parsed)) return parseJson(parsed.toString('utf8'))
  if (parsed === undefined) {
    throw invalidInput(
      'the body was already read by other middleware; mount the endpoint before it, or keep the parsed body',
    )
  }
  return parsed
}

function bodySize({ headers }: Request, parsed: unknown): number {
  const declaredBytes = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isFinite(declaredBytes)) return declaredBytes
  if (typeof parsed === 'string' || Buffer.isBuffer(parsed)) return parsed.length
  return parsed === undefined ? 0 : JSON.stringify(parsed).length
}

function parseJson(text: string): unknown {
  if (text.trim() === '') throw invalidInput('the body is empty')
  if (isDeeperThan(text, MAX_DEPTH))
    throw invalidInput(`the body must not be nested more than ${MAX_DEPTH} levels deep`)
  try {
    return JSON.parse(text)
  } catch {
    // Replaces the message of the parser, which would quote the body.
    throw invalidInput('the body is not valid JSON')
  }
}
