import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isCrossOriginRequest } from './origin.js'
import { isStreamed } from './streamed.js'

/** Smaller bodies fit into one packet, so compression saves nothing. */
const MIN_COMPRESSED_BYTES = 1024
const COMPRESSIBLE_TYPE = /^(?:text\/|application\/json\b|image\/svg\+xml\b)/
/** For pages, levels above 6 cost more time than they save (measured on the list). Assets are compressed only once. */
const GZIP_LEVEL = { page: 6, asset: 9 }
/** Exceeds the number of bundles; bounds the cache. */
const MAX_CACHED_ASSETS = 10

const gzipAsync = promisify(gzip)
const compressedAssets = new Map<string, Promise<Buffer>>()

/**
 * Compresses a response if the client accepts gzip and the body is large enough. Hosts that compress responses skip
 * those with a `Content-Encoding`.
 */
export async function compressResponse(request: Request, response: Response): Promise<Response> {
  if (!response.body || !isCompressible(response)) return response
  const body = Buffer.from(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.append('Vary', 'Accept-Encoding')
  const { status } = response
  const isAsset = headers.get('cache-control')?.includes('immutable') === true
  const shouldCompress = body.length >= MIN_COMPRESSED_BYTES && acceptsGzip(request.headers.get('accept-encoding'))
  // Prevents BREACH: another site could infer page content from the compressed length.
  if (!shouldCompress || (!isAsset && isCrossOriginRequest(request.headers))) return withBody(body, status, headers)
  headers.set('Content-Encoding', 'gzip')
  return withBody(
    isAsset ? await compressAssetOnce(body) : await gzipAsync(body, { level: GZIP_LEVEL.page }),
    status,
    headers,
  )
}

function isCompressible({ headers }: Response): boolean {
  return (
    COMPRESSIBLE_TYPE.test(headers.get('content-type') ?? '') &&
    !headers.has('content-encoding') &&
    !isStreamed(headers)
  )
}

function withBody(body: Buffer, status: number, headers: Headers): Response {
  headers.set('Content-Length', String(body.length))
  return new Response(new Uint8Array(body), { status, headers })
}

function compressAssetOnce(body: Buffer): Promise<Buffer> {
  const text = body.toString('utf8')
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
