import type { Arrival } from './arrival.js'
import { type BodyLimits, readBounded, tooLarge } from './bounded-body.js'
import { refused } from './contract.js'
import { isDeeperThan } from './json-depth.js'

/** Deeper than any report. Bounds the recursion of a parser. */
const MAX_DEPTH = 32

/** The parsed body, within its limits. The result of the host's parser is used as it is. */
export async function jsonBody(request: Request, arrival: Arrival, limits: BodyLimits): Promise<unknown> {
  if (!('parsed' in arrival)) return parse((await readBounded(request, limits)).toString('utf8'))
  const { max_bytes, count } = limits
  const { parsed } = arrival
  count(sizeOf(request, parsed))
  // The host's parser has its own limit; checks the declared size.
  if (Number(request.headers.get('content-length') ?? 0) > max_bytes) throw tooLarge(max_bytes)
  if (typeof parsed === 'string') return parse(parsed)
  if (Buffer.isBuffer(parsed)) return parse(parsed.toString('utf8'))
  if (parsed === undefined) {
    throw refused('the body was already read; mount the endpoint before that middleware, or keep the parsed body')
  }
  return parsed
}

function sizeOf({ headers }: Request, parsed: unknown): number {
  const announced = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isFinite(announced)) return announced
  if (typeof parsed === 'string' || Buffer.isBuffer(parsed)) return parsed.length
  return parsed === undefined ? 0 : JSON.stringify(parsed).length
}

function parse(text: string): unknown {
  if (text.trim() === '') throw refused('the body is empty')
  if (isDeeperThan(text, MAX_DEPTH)) throw refused(`the body must not be nested more than ${MAX_DEPTH} levels deep`)
  try {
    return JSON.parse(text)
  } catch {
    // The message of the parser would quote the body.
    throw refused('the body is not valid JSON')
  }
}
