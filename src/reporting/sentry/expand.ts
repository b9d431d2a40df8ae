import { promisify } from 'node:util'
import { gunzip, inflate, inflateRaw } from 'node:zlib'

/** The encodings that are read. Never brotli or zstd: their decoders have had faults that a body could reach. */
const DECODERS: Readonly<Record<string, readonly Decoder[]>> = {
  gzip: [promisify(gunzip)],
  'x-gzip': [promisify(gunzip)],
  // By the standard with a header; some send it without.
  deflate: [promisify(inflate), promisify(inflateRaw)],
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

export type Expanded = { bytes: Buffer } | { status: 400 | 413 | 415; detail: string }

/** A body as it was before it was compressed, however small it makes itself: no more than so many bytes are unpacked. */
export async function expand(bytes: Buffer, encoding: string | null, max_bytes: number): Promise<Expanded> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return { bytes }
  if (!Object.hasOwn(DECODERS, name)) return { status: 415, detail: 'use gzip, deflate or no content encoding' }
  for (const decode of DECODERS[name] ?? []) {
    try {
      return { bytes: await decode(bytes, { maxOutputLength: max_bytes }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        return { status: 413, detail: `the body is larger than ${max_bytes} bytes when it is unpacked` }
      }
    }
  }
  return { status: 400, detail: `the body is no ${name}` }
}
