import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isForeignOrigin } from './origin.js'
import { isStreamed } from './streamed.js'

/** Below this, what is saved is less than a packet. */
const LEAST_BYTES = 1024
const TEXT = /^(?:text\/|application\/json\b|image\/svg\+xml\b)/
/** Measured on the list: the last levels cost a page more time than they save on the way. Assets pay only once. */
const LEVEL = { page: 6, asset: 9 }
/** More than the assets there are, so that the map stays small whatever is served as one. */
const MAX_ASSETS = 10

const gzipped = promisify(gzip)
const assets = new Map<string, Promise<Buffer>>()

/**
 * The answer, compressed where the client takes that and it is worth it. A host that compresses answers itself leaves
 * alone what says that it is compressed already.
 */
export async function compressed(request: Request, response: Response): Promise<Response> {
  if (!response.body || !isCompressible(response)) return response
  const body = Buffer.from(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.append('Vary', 'Accept-Encoding')
  const { status } = response
  const is_asset = headers.get('cache-control')?.includes('immutable') === true
  const wanted = body.length >= LEAST_BYTES && takesGzip(request.headers.get('accept-encoding'))
  // The length of a compressed page tells of its content whoever may choose a part of it: never a page of another site.
  if (!wanted || (!is_asset && isForeignOrigin(request.headers))) return answered(body, status, headers)
  headers.set('Content-Encoding', 'gzip')
  return answered(is_asset ? await assetOnce(body) : await gzipped(body, { level: LEVEL.page }), status, headers)
}

function isCompressible({ headers }: Response): boolean {
  return TEXT.test(headers.get('content-type') ?? '') && !headers.has('content-encoding') && !isStreamed(headers)
}

function answered(body: Buffer, status: number, headers: Headers): Response {
  headers.set('Content-Length', String(body.length))
  return new Response(new Uint8Array(body), { status, headers })
}

function assetOnce(body: Buffer): Promise<Buffer> {
  const text = body.toString('utf8')
  const known = assets.get(text)
  if (known) return known
  if (assets.size >= MAX_ASSETS) assets.clear()
  const made = gzipped(body, { level: LEVEL.asset })
  assets.set(text, made)
  return made
}

/** By the words of RFC 9110: what is not named is refused where `*` is not, and a weight of zero refuses. */
export function takesGzip(accepted: string | null): boolean {
  const weights = new Map(
    (accepted ?? '').split(',').map((part) => {
      const [coding = '', ...parameters] = part.split(';')
      const weight = parameters.map((one) => /^\s*q=([\d.]+)\s*$/i.exec(one)?.[1]).find((one) => one !== undefined)
      return [coding.trim().toLowerCase(), Number(weight ?? 1)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}
