import { isDeeperThan } from '../json-depth.js'
import { type Json, recordOf, textIn } from './values.js'

/** What an SDK sends in one request: a header, and items with headers of their own. */
export interface Envelope {
  header: Json
  items: readonly EnvelopeItem[]
}

export interface EnvelopeItem {
  type: string
  header: Json
  payload: Uint8Array
}

/** Somebody sent what no SDK sends. */
export class MalformedEnvelope extends Error {}

const MOST_ITEMS = 100
export const MAX_HEADER_BYTES = 16_384
/** Of all headers together. SDKs send a few hundred bytes; parsing more would cost the host's thread. */
const MAX_ALL_HEADER_BYTES = 65_536
const NEWLINE = 0x0a
/** SDKs cut what they send at a fraction of this. */
const MAX_DEPTH = 100

/** The header in the first line, which may be all that has arrived so far. */
export function envelopeHeader(bytes: Buffer): Json {
  return headerIn(lineAt(bytes, 0).line, 'the envelope')
}

/**
 * Takes an envelope apart without looking into its items. Lines are framed by newlines; a payload is as long as its
 * header says, else it ends with its line.
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
    if (items.length >= MOST_ITEMS) throw new MalformedEnvelope(`an envelope holds at most ${MOST_ITEMS} items`)
    header_bytes += line.length
    if (header_bytes > MAX_ALL_HEADER_BYTES) throw new MalformedEnvelope('the headers are too long')
    const item = headerIn(line, `item ${items.length + 1}`)
    const end = payloadEnd(bytes, at, item.length)
    items.push({ type: textIn(item.type)?.slice(0, 40) ?? '', header: item, payload: bytes.subarray(at, end) })
    at = bytes[end] === NEWLINE ? end + 1 : end
  }
  return { header, items }
}

/** What a payload says, where it is an object. */
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
    throw new MalformedEnvelope('the length of an item is no size')
  const end = from + Number(length)
  if (end > bytes.length) throw new MalformedEnvelope('an item is shorter than its header says')
  return end
}

function parsed(bytes: Buffer, what: string): unknown {
  const text = bytes.toString('utf8')
  if (isDeeperThan(text, MAX_DEPTH)) throw new MalformedEnvelope(`${what} is nested too deep`)
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedEnvelope(`${what} is not JSON`)
  }
}
