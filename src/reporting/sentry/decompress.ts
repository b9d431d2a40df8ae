import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { Rejection } from './rejection.js'

/** Bytes to decompress at a time. Reading exceeds the client's limit by at most this much. */
const CHUNK_BYTES = 65_536

const gunzip = () => createGunzip({ chunkSize: CHUNK_BYTES })

/** Supported encodings. Excludes brotli and zstd, whose decoders have had vulnerabilities. */
const DECODERS: Readonly<Record<string, (start: Buffer) => Transform>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // The standard requires the zlib header; some clients send the raw format.
  deflate: (start) =>
    hasZlibHeader(start) ? createInflate({ chunkSize: CHUNK_BYTES }) : createInflateRaw({ chunkSize: CHUNK_BYTES }),
}

/** Yields the decompressed chunks of a body. Stops when the consumer stops. */
export async function* decompress(chunks: AsyncGenerator<Buffer>, encoding: string | null): AsyncGenerator<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return yield* chunks
  const createDecoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined
  if (!createDecoder) throw new Rejection(415, 'use gzip, deflate or no content encoding')
  const first = await chunks.next()
  if (first.done) throw new Rejection(400, `the body is not valid ${name}`)
  const decoder = createDecoder(first.value)
  // The loop below throws pipeline errors.
  pipeline(Readable.from(prepend(first.value, chunks), { objectMode: true, highWaterMark: 1 }), decoder, () => {})
  try {
    for await (const chunk of decoder) yield chunk
  } catch (error) {
    throw isDecoderError(error) ? new Rejection(400, `the body is not valid ${name}`) : error
  }
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

/** RFC 1950: the compression method is 8, and the first two bytes are a multiple of 31. */
function hasZlibHeader(start: Buffer): boolean {
  return start.length > 1 && ((start[0] ?? 0) & 0x0f) === 8 && start.readUInt16BE(0) % 31 === 0
}

function isDecoderError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
