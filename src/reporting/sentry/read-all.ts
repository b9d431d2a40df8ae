import type { Arrival } from '../arrival.js'
import { readBounded } from '../bounded-body.js'
import { expand } from './expand.js'
import { Refusal } from './refusal.js'

/** The body as it was before it was compressed, or as a parser of the host has left it. */
export async function readAll(request: Request, arrival: Arrival, max_bytes: number): Promise<Buffer> {
  if ('parsed' in arrival) return bytesOf(arrival.parsed, max_bytes)
  const expanded = await expand(await received(request, max_bytes), request.headers.get('content-encoding'), max_bytes)
  if ('bytes' in expanded) return expanded.bytes
  throw new Refusal(expanded.status, expanded.detail)
}

async function received(request: Request, max_bytes: number): Promise<Buffer> {
  try {
    return await readBounded(request, max_bytes)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'too_large') throw error
    // The client left in the middle of it, or somebody else is reading.
    throw new Refusal(400, 'the body could not be read')
  }
}

/** Parsers unpack what they take; only JSON of the elder endpoint comes as an object. */
function bytesOf(parsed: unknown, max_bytes: number): Buffer {
  const bytes = Buffer.isBuffer(parsed) ? parsed : textOf(parsed)
  if (!bytes) throw new Refusal(400, 'the body was read by something else before')
  if (bytes.length > max_bytes) throw new Refusal(413, `the body is larger than ${max_bytes} bytes`)
  return bytes
}

function textOf(parsed: unknown): Buffer | null {
  if (typeof parsed !== 'object' || parsed === null) return typeof parsed === 'string' ? Buffer.from(parsed) : null
  try {
    return Buffer.from(JSON.stringify(parsed))
  } catch {
    throw new Refusal(400, 'the body is nested too deep')
  }
}
