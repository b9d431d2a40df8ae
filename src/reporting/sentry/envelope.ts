import { isDeeperThan } from '../json-depth.js'
import { type Json, recordOf, textIn } from './values.js'

/** Content of one request of an SDK: a header, and items with their own headers. */
export interface Envelope {
  header: Json
  items: readonly EnvelopeItem[]
}

export interface EnvelopeItem {
  type: string
  header: Json
  payload: Uint8Array
}

/** The body is not a valid envelope. */
export class MalformedEnvelope extends Error {}

const MOST_ITEMS = 100
export const MAX_HEADER_BYTES = 16_384
/** For all headers together. SDKs send a few hundred bytes; parsing more would block the host. */
const MAX_ALL_HEADER_BYTES = 65_536
const NEWLINE = 0x0a
/** SDKs cut what they send at a fraction of this. */
const MAX_DEPTH = 100

/** The header in the first line, which may be all that has arrived so far. */
export function envelopeHeader(bytes: Buffer): Json {
  return headerIn(lineAt(bytes, 0).line, 'the envelope')
}

/**
 * Splits an envelope into items without parsing them. A payload ends after the length in its header, or else with its
 * line.
 */
export function parseEnvelope(bytes: Buffer): Envelope {
  const first = lineAt(bytes, 0)
  const header = headerIn(first.line, 'the envelope')
  const items: EnvelopeItem[] = []
  let header_bytes = first.line.length
  for (let at = first.next; at < bytes.length; ) {
    const { line, next } = lineAt(bytes, at)
    at = next
    if (line.length === 0) continue
    if (items.length >= MOST_ITEMS)
      throw new MalformedEnvelope(`an envelope must not contain more than ${MOST_ITEMS} items`)
    header_bytes += line.length
    if (header_bytes > MAX_ALL_HEADER_BYTES) throw new MalformedEnvelope('the headers are too long')
    const item = headerIn(line, `item ${items.length + 1}`)
    const end = payloadEnd(bytes, at, item.length)
    items.push({ type: textIn(item.type)?.slice(0, 40) ?? '', header: item, payload: bytes.subarray(at, end) })
    at = bytes[end] === NEWLINE ? end + 1 : end
  }
  return { header, items }
}

/** Parses a payload that must be an object. */
export function jsonIn(payload: Uint8Array, what: string): Json {
  const value = recordOf(parsed(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength), what))
  if (!value) throw new MalformedEnvelope(`${what} is not a JSON object`)
  return value
}

function lineAt(bytes: Buffer, from: number): { line: Buffer; next: number } {
  const newline = bytes.indexOf(NEWLINE, from)
  const end = newline < 0 ? bytes.length : newline
  return { line: bytes.subarray(from, bytes[end - 1] === 0x0d && end > from ? end - 1 : end), next: end + 1 }
}

function headerIn(line: Buffer, what: string): Json {
  if (line.length > MAX_HEADER_BYTES) throw new MalformedEnvelope(`the header of ${what} is too long`)
  return jsonIn(line, `the header of ${what}`)
}

function payloadEnd(bytes: Buffer, from: number, length: unknown): number {
  if (length === undefined || length === null) {
    const newline = bytes.indexOf(NEWLINE, from)
    return newline < 0 ? bytes.length : newline
  }
  if (!Number.isSafeInteger(length) || Number(length) < 0)
    throw new MalformedEnvelope('the length of an item is invalid')
  const end = from + Number(length)
  if (end > bytes.length) throw new MalformedEnvelope('an item is shorter than the length in its header')
  return end
}

function parsed(bytes: Buffer, what: string): unknown {
  const text = bytes.toString('utf8')
  if (isDeeperThan(text, MAX_DEPTH)) throw new MalformedEnvelope(`${what} is nested too deeply`)
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedEnvelope(`${what} is not JSON`)
  }
}
