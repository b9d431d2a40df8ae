import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

/** Text as it is kept in the database: compressed, and in letters that every database takes. */
export async function packText(text: string | Buffer): Promise<string> {
  return (await promisify(gzip)(text)).toString('base64')
}

/** Rejects where it would be longer than that. */
export async function unpackText(packed: string, max_bytes: number): Promise<Buffer> {
  return promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: max_bytes })
}
