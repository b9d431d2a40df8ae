import type { TrackerInstance } from '../../tracker.js'
import { type Answering, type Arrival, answerJson } from '../arrival.js'
import { type ClientOptions, clientOf, countedBy } from '../client.js'
import type { Cors } from '../cors.js'
import { hold, type Limits } from '../limits.js'
import { type Envelope, envelopeHeader, MAX_HEADER_BYTES, parseEnvelope } from './envelope.js'
import { isAllowed, keyIn, keyOfDsn, type PublicKeys } from './public-key.js'
import { unpackedChunks } from './read-all.js'
import { createRecording } from './record.js'
import { Refusal, refusalOf } from './refusal.js'

export interface ReceiverOptions extends ClientOptions {
  keys: PublicKeys
  cors: Cors
  limits: Limits
  store_ip_addresses: boolean
  max_bytes: number
}

/** Handles a request and returns a response. Never rejects: SDKs receive the reason, and the host is not affected. */
export function createReceiver(options: ReceiverOptions, tracker: TrackerInstance): Answering {
  const { cors, keys, limits, max_bytes } = options
  const record = createRecording(tracker)

  return async (request, arrival) => {
    try {
      return cors.admit(request, await receive(request, arrival))
    } catch (error) {
      const answer = cors.admit(request, refusalOf(error, tracker))
      if (answer.headers.has('access-control-expose-headers')) {
        answer.headers.append('access-control-expose-headers', 'x-sentry-error')
      }
      return answer
    }
  }

  async function receive(request: Request, arrival: Arrival): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const place = placeOf(pathname)
    if (!place) throw new Refusal(404, 'not found: a DSN ends with a slash and the project number')
    if (request.method === 'OPTIONS') return cors.preflight(request)
    if (request.method !== 'POST') throw new Refusal(405, 'only POST is supported', { allow: 'POST, OPTIONS' })
    if (cors.isRefused(request)) throw new Refusal(403, 'this origin may not report here')
    const remote_address = clientOf({ request, host: arrival.host }, arrival, options, tracker.config)
    const client = countedBy(remote_address)
    hold(limits.request(client))
    const key = keyIn(request.headers, searchParams)
    // The older endpoint has no envelope that could contain a key.
    let isAdmitted = false
    let bytesBeforeKey = 0
    const admit = async (found: string | null) => {
      await checkKey(found, place)
      hold(limits.admit() ?? limits.admitBytes(bytesBeforeKey))
      isAdmitted = true
    }
    const count = (bytes: number) => {
      if (isAdmitted) return hold(limits.bytes(client, bytes))
      bytesBeforeKey += bytes
      hold(limits.bytesBeforeKey(client, bytes))
    }
    if (key !== null || place.kind === 'store') await admit(key)
    const chunks = unpackedChunks(request, arrival, { max_bytes, count })
    const bytes = isAdmitted ? await joined(chunks) : await keyedBytes(chunks, admit)
    const envelope = place.kind === 'store' ? bareEvent(bytes) : parseEnvelope(bytes)
    hold(limits.errors(client, envelope.items.filter(({ type }) => type === 'event').length))
    const id = await record(envelope, {
      project_id: place.project_id,
      remote_address: options.store_ip_addresses ? (remote_address ?? undefined) : undefined,
    })
    return answerJson(200, id === null ? {} : { id })
  }

  /** Checks the key in the first line before the rest is decompressed, for envelopes through a tunnel. */
  async function keyedBytes(
    chunks: AsyncIterable<Buffer>,
    admit: (key: string | null) => Promise<void>,
  ): Promise<Buffer> {
    const parts: Buffer[] = []
    let size = 0
    let isChecked = false
    const check = () => admit(keyOfDsn(envelopeHeader(Buffer.concat(parts)).dsn))
    for await (const chunk of chunks) {
      parts.push(chunk)
      size += chunk.length
      if (isChecked || !(chunk.includes('\n') || size > MAX_HEADER_BYTES)) continue
      await check()
      isChecked = true
    }
    if (!isChecked) await check()
    return Buffer.concat(parts)
  }

  async function checkKey(key: string | null, { project_id }: Place): Promise<void> {
    if (key === null) throw new Refusal(401, 'the public key is missing')
    if (!(await isAllowed(keys, key, project_id))) throw new Refusal(403, 'this public key may not report here')
  }
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

/** `/api/1/envelope/` and the older `/api/1/store/`, below the mount path of the intake. */
interface Place {
  project_id: string
  kind: string
}

function placeOf(path: string): Place | null {
  const [, project_id, kind] = /\/api\/([\w-]{1,64})\/(envelope|store)\/?$/.exec(path.slice(-200)) ?? []
  return project_id && kind ? { project_id, kind } : null
}

/** The body of the older endpoint is a single event. */
function bareEvent(bytes: Buffer): Envelope {
  return { header: {}, items: [{ type: 'event', header: {}, payload: bytes }] }
}
