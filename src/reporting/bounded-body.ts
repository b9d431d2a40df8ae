import { TrackerError } from '../model/errors.js'

/** Read and discarded of a body that is refused: a client that is cut off while sending never sees the response. */
const MAX_DRAINED_BYTES = 4 * 1024 * 1024

/** The chunks of a body as they arrive. Throws `too_large` beyond the limit. */
export async function* bodyChunks(request: Request, max_bytes: number): AsyncGenerator<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > MAX_DRAINED_BYTES && announced > max_bytes) throw tooLarge(max_bytes)
  if (!request.body) return
  const reader = request.body.getReader()
  let size = 0
  const read = async (): Promise<Buffer | null> => {
    const { done, value } = await reader.read().catch(() => {
      // The client left, or its connection broke.
      throw new TrackerError('invalid_input', 'the body could not be read to its end')
    })
    if (done) return null
    size += value.byteLength
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  let isComplete = false
  try {
    if (announced > max_bytes) throw tooLarge(max_bytes)
    for (let chunk = await read(); chunk !== null; chunk = await read()) {
      if (size > max_bytes) throw tooLarge(max_bytes)
      yield chunk
    }
    isComplete = true
  } finally {
    // A consumer that stops early lands here as well.
    if (!isComplete) await drain(read, () => size)
    // Not cancelled: that would close the connection before the response is sent.
    reader.releaseLock()
  }
}

async function drain(read: () => Promise<Buffer | null>, size: () => number): Promise<void> {
  try {
    while (size() <= MAX_DRAINED_BYTES && (await read()) !== null) {}
  } catch {
    // The reason for the refusal matters more.
  }
}

/** All bytes of a body. `count` sees every chunk as it arrives, and may throw to stop. */
export async function readBounded(
  request: Request,
  max_bytes: number,
  count: (bytes: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bodyChunks(request, max_bytes)) {
    count(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export function tooLarge(max_bytes: number): TrackerError {
  return new TrackerError('too_large', `The body must not be larger than ${max_bytes} bytes.`)
}
