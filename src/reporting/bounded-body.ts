import { TrackerError } from '../model/errors.js'

/** So much is read of a body that is refused: a client that is cut off while it sends never hears the reason. */
const DRAINED_BYTES = 4 * 1024 * 1024

/** The bytes of a body, counted while they come. Throws `too_large` beyond the limit. */
export async function readBounded(request: Request, max_bytes: number): Promise<Buffer> {
  const said = Number(request.headers.get('content-length') ?? 0)
  if (said > DRAINED_BYTES && said > max_bytes) throw tooLarge(max_bytes)
  if (!request.body) return Buffer.alloc(0)
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.byteLength
      if (size <= max_bytes && said <= max_bytes) chunks.push(next.value)
      else chunks.length = 0
      if (size > Math.max(max_bytes, DRAINED_BYTES)) break
    }
  } catch {
    // The client left, or its connection broke.
    throw new TrackerError('invalid_input', 'the body could not be read to its end')
  } finally {
    // Not cancelled: that would end the connection before the answer is sent.
    reader.releaseLock()
  }
  if (size > max_bytes || said > max_bytes) throw tooLarge(max_bytes)
  return Buffer.concat(chunks)
}

export function tooLarge(max_bytes: number): TrackerError {
  return new TrackerError('too_large', `The body must not be larger than ${max_bytes} bytes.`)
}
