import { TrackerError } from '../model/errors.js'

/**
 * Maximum bytes of a rejected body to read and discard. A client that is disconnected while sending never receives the
 * response.
 */
const MAX_DRAINED_BYTES = 4 * 1024 * 1024
/** Smaller chunks count as this many bytes, because reading one byte costs about as much as reading a kilobyte. */
const MIN_CHUNK_BYTES = 1000

export interface BodyLimits {
  max_bytes: number
  /** Counts bytes against the limits of the client. Throws to stop reading. */
  count(bytes: number): void
}

/**
 * Yields the chunks of a body as they arrive. Throws `too_large` beyond the limit. Counts only the overhead of small
 * chunks; the caller counts their bytes.
 */
export async function* bodyChunks(request: Request, { max_bytes, count }: BodyLimits): AsyncGenerator<Buffer> {
  const declaredBytes = Number(request.headers.get('content-length') ?? 0)
  if (declaredBytes > MAX_DRAINED_BYTES && declaredBytes > max_bytes) throw bodyTooLarge(max_bytes)
  if (!request.body) return
  const reader = request.body.getReader()
  let size = 0
  let cost = 0
  const read = async (): Promise<Buffer | null> => {
    const { done, value } = await reader.read().catch(() => {
      // The client disconnected.
      throw new TrackerError('invalid_input', 'the body ended early')
    })
    if (done) return null
    size += value.byteLength
    cost += Math.max(value.byteLength, MIN_CHUNK_BYTES)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  let isComplete = false
  try {
    if (declaredBytes > max_bytes) throw bodyTooLarge(max_bytes)
    for (let chunk = await read(); chunk !== null; chunk = await read()) {
      if (size > max_bytes) throw bodyTooLarge(max_bytes)
      if (chunk.length < MIN_CHUNK_BYTES) count(MIN_CHUNK_BYTES - chunk.length)
      yield chunk
    }
    isComplete = true
  } finally {
    // Also runs if the consumer stops early.
    if (!isComplete) await drain(read, () => cost)
    // Canceling would close the connection before the response is sent.
    reader.releaseLock()
  }
}

async function drain(read: () => Promise<Buffer | null>, cost: () => number): Promise<void> {
  try {
    while (cost() <= MAX_DRAINED_BYTES && (await read()) !== null) {}
  } catch {
    // The caller throws the original error.
  }
}

/** Reads all bytes of a body, counted as they arrive. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bodyChunks(request, limits)) {
    limits.count(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export function bodyTooLarge(max_bytes: number): TrackerError {
  return new TrackerError('too_large', `The body must not be larger than ${max_bytes} bytes.`)
}
