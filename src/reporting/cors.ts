import { isCrossOriginRequest } from '../dashboard/http/origin.js'
import { ConfigurationError } from '../model/errors.js'

export interface CorsOptions {
  /** Origins of other sites whose pages may report here, such as `https://shop.example`. */
  allowed_origins?: readonly string[] | undefined
  /** Allows these pages to send cookies. */
  allow_credentials?: boolean | undefined
}

/** CORS behavior of an endpoint. */
export interface Cors {
  /** Checks whether the request comes from a page that is not allowed to report errors. */
  isForbidden(request: Request): boolean
  /** Response to a preflight, or to a plain OPTIONS request. */
  preflight(request: Request): Response
  /** Allows the requesting page to read the response, if its origin is allowed. */
  allowOrigin(request: Request, response: Response): Response
}

/**
 * Accepts exact origins only. With a wildcard, any page could make its visitors report here. Throws a
 * ConfigurationError for an invalid origin.
 */
export function createCors({ allowed_origins = [], allow_credentials = false }: CorsOptions): Cors {
  const invalid = allowed_origins.filter((origin) => typeof origin !== 'string' || !ORIGIN.test(origin))
  if (invalid.length > 0) {
    throw new ConfigurationError(
      invalid.map(
        (origin) =>
          `allowed_origins: ${JSON.stringify(origin)} is not an origin; use the form that a browser sends, such as "https://shop.example"`,
      ),
    )
  }
  const allowed = new Set(allowed_origins.map((origin) => origin.toLowerCase()))
  const isAllowed = ({ headers }: Request) => allowed.has(headers.get('origin')?.toLowerCase() ?? '')
  const allowOrigin = (request: Request, response: Response) => {
    if (allowed.size > 0) response.headers.append('Vary', 'Origin')
    if (!isAllowed(request)) return response
    response.headers.set('Access-Control-Allow-Origin', request.headers.get('origin') ?? '')
    response.headers.set('Access-Control-Expose-Headers', 'Retry-After, X-Sentry-Rate-Limits')
    if (allow_credentials) response.headers.set('Access-Control-Allow-Credentials', 'true')
    return response
  }
  return {
    isForbidden: (request) => isCrossOriginRequest(request.headers) && !isAllowed(request),
    preflight(request) {
      const response = new Response(null, { status: 204, headers: { Allow: 'POST, OPTIONS' } })
      if (!isAllowed(request)) return allowOrigin(request, response)
      response.headers.set('Access-Control-Allow-Methods', 'POST')
      response.headers.set('Access-Control-Allow-Headers', allowedHeaders(request))
      response.headers.set('Access-Control-Max-Age', '7200')
      return allowOrigin(request, response)
    },
    allowOrigin,
  }
}

/** Scheme and host, including the origins of web views: `capacitor://localhost`. */
const ORIGIN = /^[a-z][a-z\d+.-]{0,30}:\/\/[^\s/?#@*]{1,255}$/i

/** Allows all requested headers, such as the host's token header. Access is controlled by origin. */
function allowedHeaders({ headers }: Request): string {
  const names = (headers.get('access-control-request-headers') ?? '').slice(0, 1000).split(',')
  const requested = names.map((name) => name.trim().toLowerCase()).filter((name) => /^[\w-]{1,64}$/.test(name))
  return [...new Set(['content-type', ...requested])].join(', ')
}
