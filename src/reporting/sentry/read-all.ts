import type { Arrival } from '../arrival.js'
import { type BodyLimits, bodyChunks } from '../bounded-body.js'
import { expand } from './expand.js'
import { Refusal } from './refusal.js'

/** The body after decompression, or as a parser of the host left it, in chunks that are counted before they are used. */
export async function* unpackedChunks(request: Request, arrival: Arrival, limits: BodyLimits): AsyncGenerator<Buffer> {
  const { max_bytes, count } = limits
  let size = 0
  for await (const chunk of chunksOf(request, arrival, limits)) {
    count(chunk.length)
    size += chunk.length
    if (size > max_bytes) throw new Refusal(413, `the body is larger than ${max_bytes} bytes when it is unpacked`)
    yield chunk
  }
}

async function* chunksOf(request: Request, arrival: Arrival, limits: BodyLimits): AsyncGenerator<Buffer> {
  if ('parsed' in arrival) {
    yield bytesOf(arrival.parsed, limits.max_bytes)
    return
  }
  try {
    yield* expand(bodyChunks(request, limits), request.headers.get('content-encoding'))
  } catch (error) {
    // The client left in the middle of it.
    if (error instanceof Error && 'code' in error && error.code === 'invalid_input') {
      throw new Refusal(400, 'the body could not be read')
    }
    throw error
  }
}

/** Parsers decompress what they take; only JSON of the older endpoint comes as an object. */
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
