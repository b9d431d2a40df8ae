import { type BodyLimits, bodyChunks } from '../bounded-body.js'
import type { RequestOrigin } from '../http.js'
import { decompress } from './decompress.js'
import { Rejection } from './rejection.js'

/** Yields the decompressed body, or the result of the host's parser, in chunks. Counts each chunk before it is used. */
export async function* decompressedChunks(
  request: Request,
  origin: RequestOrigin,
  limits: BodyLimits,
): AsyncGenerator<Buffer> {
  const { max_bytes, count } = limits
  let size = 0
  for await (const chunk of rawChunks(request, origin, limits)) {
    count(chunk.length)
    size += chunk.length
    if (size > max_bytes) throw new Rejection(413, `the body is larger than ${max_bytes} bytes after decompression`)
    yield chunk
  }
}

async function* rawChunks(request: Request, origin: RequestOrigin, limits: BodyLimits): AsyncGenerator<Buffer> {
  if ('parsed' in origin) {
    yield parsedBytes(origin.parsed, limits.max_bytes)
    return
  }
  try {
    yield* decompress(bodyChunks(request, limits), request.headers.get('content-encoding'))
  } catch (error) {
    // The client disconnected.
    if (error instanceof Error && 'code' in error && error.code === 'invalid_input') {
      throw new Rejection(400, 'the body cannot be read')
    }
    throw error
  }
}

/** Body from the host's parser, already decompressed. Only JSON of the older endpoint arrives as an object. */
function parsedBytes(parsed: unknown, max_bytes: number): Buffer {
  const bytes = Buffer.isBuffer(parsed) ? parsed : encodeParsed(parsed)
  if (!bytes) throw new Rejection(400, 'the body was already read by other middleware')
  if (bytes.length > max_bytes) throw new Rejection(413, `the body is larger than ${max_bytes} bytes`)
  return bytes
}

function encodeParsed(parsed: unknown): Buffer | null {
  if (typeof parsed !== 'object' || parsed === null) return typeof parsed === 'string' ? Buffer.from(parsed) : null
  try {
    return Buffer.from(JSON.stringify(parsed))
  } catch {
    throw new Rejection(400, 'the body is nested too deeply')
  }
}
