import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { isCrossOriginRequest } from './origin.js'
import { BufferedResponse } from './responses.js'
import { isStreamed } from './streamed.js'

/** Smaller bodies fit into one packet, so compression saves nothing. */
const MIN_COMPRESSED_BYTES = 1024
const COMPRESSIBLE_TYPE = /^(?:text\/|application\/json\b|image\/svg\+xml\b)/
/**
 * For pages, levels above 6 cost more time than the transfer saves (measured on the list). Assets are compressed only
 * once.
 */
const GZIP_LEVEL = { page: 6, asset: 9 }
/** Exceeds the number of bundles; bounds the cache. */
const MAX_CACHED_ASSETS = 10

const gzipAsync = promisify(gzip)
const compressedAssets = new Map<string, Promise<Buffer>>()

/**
 * Compresses a response if the client accepts gzip and the body is large enough. Compression in the host skips
 * responses with a `Content-Encoding`.
 */
export async function compressResponse(request: Request, response: Response): Promise<Response> {
  if (!response.body || !isCompressible(response)) return response
  const headers = new Headers(response.headers)
  headers.append('Vary', 'Accept-Encoding')
  const { status } = response
  const isAsset = headers.get('cache-control')?.includes('immutable') === true
  // Prevents BREACH: another site could infer page content from the compressed length.
  const isSafe = isAsset || !isCrossOriginRequest(request.headers)
  const isAccepted = isSafe && acceptsGzip(request.headers.get('accept-encoding'))
  if (isStreamed(headers)) {
    if (!isAccepted) return response
    headers.set('Content-Encoding', 'gzip')
    return new Response(compressStream(response.body), { status, headers })
  }
  const body = response instanceof BufferedResponse ? response.content : new Uint8Array(await response.arrayBuffer())
  if (!isAccepted || body.length < MIN_COMPRESSED_BYTES) return withBody(body, status, headers)
  headers.set('Content-Encoding', 'gzip')
  const compressed = isAsset ? await compressAssetOnce(body) : await gzipAsync(body, { level: GZIP_LEVEL.page })
  return withBody(new Uint8Array(compressed), status, headers)
}

function isCompressible({ headers }: Response): boolean {
  const type = headers.get('content-type') ?? ''
  if (headers.has('content-encoding') || !COMPRESSIBLE_TYPE.test(type)) return false
  return type.startsWith('text/html') || !isStreamed(headers)
}

/** Compresses each chunk as soon as it is available, so that the layout of a page still arrives first. */
function compressStream(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const gzipStream = createGzip({ level: GZIP_LEVEL.page, flush: constants.Z_SYNC_FLUSH })
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start(controller) {
        gzipStream.on('data', (chunk: Buffer) => {
          try {
            controller.enqueue(new Uint8Array(chunk))
          } catch {
            // The client closed the connection. An exception in this event would crash the host.
            gzipStream.destroy()
          }
        })
      },
      transform: (chunk) =>
        new Promise((resolve, reject) => {
          gzipStream.write(chunk, (error) => (error ? reject(error) : resolve()))
        }),
      flush: () =>
        new Promise((resolve, reject) => {
          gzipStream.on('end', resolve).on('error', reject).end()
        }),
    }),
  )
}

function withBody(body: Uint8Array<ArrayBuffer>, status: number, headers: Headers): Response {
  headers.set('Content-Length', String(body.length))
  return new Response(body, { status, headers })
}

function compressAssetOnce(body: Uint8Array): Promise<Buffer> {
  const text = Buffer.from(body).toString('utf8')
  const cached = compressedAssets.get(text)
  if (cached) return cached
  if (compressedAssets.size >= MAX_CACHED_ASSETS) compressedAssets.clear()
  const compressedBody = gzipAsync(body, { level: GZIP_LEVEL.asset })
  compressedAssets.set(text, compressedBody)
  return compressedBody
}

/** Evaluates `Accept-Encoding` (RFC 9110): an explicit coding overrides `*`, and a weight of zero refuses it. */
export function acceptsGzip(accepted: string | null): boolean {
  const weights = new Map(
    (accepted ?? '').split(',').map((part) => {
      const [coding = '', ...parameters] = part.split(';')
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1]).find((text) => text !== undefined)
      return [coding.trim().toLowerCase(), Number(weight ?? 1)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}
