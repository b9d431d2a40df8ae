import type { TrackerInstance } from '../../tracker.js'
import { type ClientOptions, rateLimitKey, resolveClient } from '../client.js'
import type { Cors } from '../cors.js'
import { type Endpoint, jsonResponse, type RequestOrigin } from '../http.js'
import { enforceLimit, type Limits } from '../limits.js'
import { type Envelope, envelopeHeader, MAX_HEADER_BYTES, parseEnvelope } from './envelope.js'
import { dsnKey, isAllowed, type PublicKeys, requestKey } from './public-key.js'
import { decompressedChunks } from './read-body.js'
import { createRecorder } from './record.js'
import { Rejection, rejectionResponse } from './rejection.js'

export interface ReceiverOptions extends ClientOptions {
  keys: PublicKeys
  cors: Cors
  limits: Limits
  store_ip_addresses: boolean
  max_bytes: number
}

/** Creates an endpoint that never rejects. SDKs receive the reason for a failure, and the host is not affected. */
export function createReceiver(options: ReceiverOptions, tracker: TrackerInstance): Endpoint {
  const { cors, keys, limits, max_bytes } = options
  const record = createRecorder(tracker)

  return async (request, origin) => {
    try {
      return cors.allowOrigin(request, await receive(request, origin))
    } catch (error) {
      const response = cors.allowOrigin(request, rejectionResponse(error, tracker))
      if (response.headers.has('access-control-expose-headers')) {
        response.headers.append('access-control-expose-headers', 'x-sentry-error')
      }
      return response
    }
  }

  async function receive(request: Request, origin: RequestOrigin): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const endpoint = parseEndpointPath(pathname)
    if (!endpoint) throw new Rejection(404, 'not found: a DSN ends with a slash and the project number')
    if (request.method === 'OPTIONS') return cors.preflight(request)
    if (request.method !== 'POST') throw new Rejection(405, 'only POST is supported', { allow: 'POST, OPTIONS' })
    if (cors.isForbidden(request)) throw new Rejection(403, 'this origin is not allowed to report errors')
    const remote_address = resolveClient({ request, host: origin.host }, origin, options, tracker.config)
    const client = rateLimitKey(remote_address)
    enforceLimit(limits.countRequest(client))
    const key = requestKey(request.headers, searchParams)
    // The body of the older endpoint cannot contain a key.
    let isAdmitted = false
    let bytesBeforeKey = 0
    const admit = async (publicKey: string | null) => {
      await checkKey(publicKey, endpoint)
      enforceLimit(limits.admit() ?? limits.admitBytes(bytesBeforeKey))
      isAdmitted = true
    }
    const count = (bytes: number) => {
      if (isAdmitted) return enforceLimit(limits.countBytes(client, bytes))
      bytesBeforeKey += bytes
      enforceLimit(limits.countBytesBeforeKey(client, bytes))
    }
    if (key !== null || endpoint.kind === 'store') await admit(key)
    const chunks = decompressedChunks(request, origin, { max_bytes, count })
    const bytes = isAdmitted ? await readAll(chunks) : await readWithKeyCheck(chunks, admit)
    const envelope = endpoint.kind === 'store' ? toEnvelope(bytes) : parseEnvelope(bytes)
    enforceLimit(limits.countErrors(client, envelope.items.filter(({ type }) => type === 'event').length))
    const id = await record(envelope, {
      project_id: endpoint.project_id,
      remote_address: options.store_ip_addresses ? (remote_address ?? undefined) : undefined,
    })
    return jsonResponse(200, id === null ? {} : { id })
  }

  /** Checks the key in the first line before the rest is decompressed, for envelopes through a tunnel. */
  async function readWithKeyCheck(
    chunks: AsyncIterable<Buffer>,
    admit: (key: string | null) => Promise<void>,
  ): Promise<Buffer> {
    const parts: Buffer[] = []
    let size = 0
    let isChecked = false
    const check = () => admit(dsnKey(envelopeHeader(Buffer.concat(parts)).dsn))
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

  async function checkKey(key: string | null, { project_id }: EndpointPath): Promise<void> {
    if (key === null) throw new Rejection(401, 'the public key is missing')
    if (!(await isAllowed(keys, key, project_id)))
      throw new Rejection(403, 'this public key is not allowed to report errors')
  }
}

async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

/** `/api/1/envelope/` and the older `/api/1/store/`, below the mount path of the intake. */
interface EndpointPath {
  project_id: string
  kind: string
}

function parseEndpointPath(path: string): EndpointPath | null {
  const [, project_id, kind] = /\/api\/([\w-]{1,64})\/(envelope|store)\/?$/.exec(path.slice(-200)) ?? []
  return project_id && kind ? { project_id, kind } : null
}

/** The body of the older endpoint is a single event. */
function toEnvelope(bytes: Buffer): Envelope {
  return { header: {}, items: [{ type: 'event', header: {}, payload: bytes }] }
}
