import { isDeeperThan } from '../json-depth.js'
import { asRecord, asText, type Json } from './values.js'

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

/** Thrown for a body that is not a valid envelope. */
export class MalformedEnvelope extends Error {}

const MAX_ITEMS = 100
export const MAX_HEADER_BYTES = 16_384
/** Limits all headers together. SDKs send a few hundred bytes, and parsing more would block the host. */
const MAX_ALL_HEADER_BYTES = 65_536
const NEWLINE = 0x0a
/** SDKs limit their data to a fraction of this depth. */
const MAX_DEPTH = 100

/** Parses the header in the first line. The remaining lines may not have arrived yet. */
export function envelopeHeader(bytes: Buffer): Json {
  return parseHeader(readLine(bytes, 0).line, 'the envelope')
}

/**
 * Splits an envelope into items without parsing them. A payload has the length given in its header. Without a length,
 * the payload ends with its line.
 */
export function parseEnvelope(bytes: Buffer): Envelope {
  const first = readLine(bytes, 0)
  const header = parseHeader(first.line, 'the envelope')
  const items: EnvelopeItem[] = []
  let headerBytes = first.line.length
  for (let offset = first.next; offset < bytes.length; ) {
    const { line, next } = readLine(bytes, offset)
    offset = next
    if (line.length === 0) continue
    if (items.length >= MAX_ITEMS)
      throw new MalformedEnvelope(`an envelope must not contain more than ${MAX_ITEMS} items`)
    headerBytes += line.length
    if (headerBytes > MAX_ALL_HEADER_BYTES) throw new MalformedEnvelope('the headers are too long')
    const item = parseHeader(line, `item ${items.length + 1}`)
    const end = payloadEnd(bytes, offset, item.length)
    items.push({ type: asText(item.type)?.slice(0, 40) ?? '', header: item, payload: bytes.subarray(offset, end) })
    offset = bytes[end] === NEWLINE ? end + 1 : end
  }
  return { header, items }
}

/** Parses a payload that must be an object. */
export function parseJsonObject(payload: Uint8Array, label: string): Json {
  const value = asRecord(parseJson(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength), label))
  if (!value) throw new MalformedEnvelope(`${label} is not a JSON object`)
  return value
}

function readLine(bytes: Buffer, start: number): { line: Buffer; next: number } {
  const newline = bytes.indexOf(NEWLINE, start)
  const end = newline < 0 ? bytes.length : newline
  return { line: bytes.subarray(start, bytes[end - 1] === 0x0d && end > start ? end - 1 : end), next: end + 1 }
}

function parseHeader(line: Buffer, label: string): Json {
  if (line.length > MAX_HEADER_BYTES) throw new MalformedEnvelope(`the header of ${label} is too long`)
  return parseJsonObject(line, `the header of ${label}`)
}

function payloadEnd(bytes: Buffer, start: number, length: unknown): number {
  if (length === undefined || length === null) {
    const newline = bytes.indexOf(NEWLINE, start)
    return newline < 0 ? bytes.length : newline
  }
  if (!Number.isSafeInteger(length) || Number(length) < 0)
    throw new MalformedEnvelope('the length of an item is invalid')
  const end = start + Number(length)
  if (end > bytes.length) throw new MalformedEnvelope('an item is shorter than the length in its header')
  return end
}

function parseJson(bytes: Buffer, label: string): unknown {
  const text = bytes.toString('utf8')
  if (isDeeperThan(text, MAX_DEPTH)) throw new MalformedEnvelope(`${label} is nested too deeply`)
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedEnvelope(`${label} is not JSON`)
  }
}
