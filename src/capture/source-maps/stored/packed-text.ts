import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

/** Encodes text for the database: compressed, in characters that every database accepts. */
export async function packText(text: string | Buffer): Promise<string> {
  return (await promisify(gzip)(text)).toString('base64')
}

/** Rejects if the text would exceed the limit. */
export async function unpackText(packed: string, maxBytes: number): Promise<Buffer> {
  return promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: maxBytes })
}
