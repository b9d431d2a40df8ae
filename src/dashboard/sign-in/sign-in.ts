import { requireSignIn } from '../../config/resolve.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { isApiToken } from '../../model/people/api-token.js'
import type { Identity } from '../../model/people/identity.js'
import type { Mount } from '../mount.js'
import { basicCredentials } from './basic.js'
import { DeviceCookies } from './device-cookie.js'
import { identifyByHost } from './host-sign-in.js'
import { SignInLimited, SignInLimiter } from './limiter.js'
import { Passwords } from './passwords.js'
import { SeenPeople } from './seen-people.js'
import { ApiTokens, bearerCredential, isBearer, unknownToken } from './tokens.js'

export interface Session {
  identity: Identity
  /** Returns the cookie that makes this browser a known device; null while its current cookie is fresh. */
  deviceCookie(path: string, secure: boolean): Promise<string | null>
}

export interface SignIn {
  /** Identifies the sender of a request. Throws `unauthenticated` or `SignInLimited`. */
  authenticate(request: Request, mount: Mount, network: string): Promise<Session>
  /** Sign-in page of the host for a browser without credentials; null for other clients. */
  signInUrl(request: Request, mount: Mount): string | null
  /** `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string
  close(): void
}

const BASIC_CHALLENGE = 'Basic realm="Faultboard", charset="UTF-8"'
/** Browsers prompt for a password only after a Basic challenge. */
const HOST_CHALLENGE = 'Bearer realm="Faultboard"'

export function createSignIn(context: Context): SignIn {
  const { config, counters, now } = context
  const passwords = new Passwords(requireSignIn(config), config.dashboard_users)
  const tokens = new ApiTokens(context)
  const people = new SeenPeople(context)
  const limiter = new SignInLimiter(now)
  const devices = new DeviceCookies((name) => passwords.deviceSecret(name), now)

  async function authenticate(request: Request, mount: Mount, network: string): Promise<Session> {
    const { headers } = request
    const header = headers.get('authorization')
    // Called for every request, because the host can end a session at any time.
    const askHost = () => identifyByHost(context, mount.host_request ?? request)
    if (header === null) {
      // A first visit without credentials is not a failed sign-in.
      const identity = await askHost()
      if (identity) return { identity, deviceCookie: async () => null }
      throw unauthenticatedError(passwords)
    }
    const bearer = bearerCredential(header)
    if (bearer !== null && isApiToken(bearer)) return authenticateByToken(bearer, network)
    const credentials = passwords.areConfigured ? basicCredentials(header) : null
    const name = credentials?.username ?? ''
    const device = credentials && (await devices.verify(headers.get('cookie'), name))
    const attempt = { name, secret: credentials?.password ?? header, network, device: device?.id ?? null }
    const identity = await limiter.attempt(
      attempt,
      // The host first: a proxy in front of it may add its own Authorization header.
      async () => (await askHost()) ?? (credentials && passwords.verify(credentials)),
      askHost,
    )
    if (identity === null) throw isBearer(header) ? unknownToken() : unauthenticatedError(passwords)
    const isKnown = identity.kind !== 'password' || (device && !device.needs_renewal)
    return {
      identity,
      deviceCookie: async (path, secure) => (isKnown ? null : devices.issue(identity.name, { path, secure })),
    }
  }

  /** Does not call the host: a request with a token has exactly the role of the token. */
  async function authenticateByToken(token: string, network: string): Promise<Session> {
    let problem = unknownToken()
    const verify = async () => {
      const result = await tokens.verify(token)
      if (!(result instanceof TrackerError)) return result
      problem = result
      return null
    }
    // Each token is an account of its own, so that a wrong token does not limit other tokens of its network.
    const attempt = { name: token, secret: token, network, device: tokens.wasValid(token) ? token : null }
    const identity = await limiter.attempt(attempt, verify, verify)
    if (identity === null) throw problem
    return { identity, deviceCookie: async () => null }
  }

  return {
    async authenticate(request, mount, network) {
      try {
        const session = await authenticate(request, mount, network)
        people.add(session.identity)
        return session
      } catch (error) {
        if (error instanceof SignInLimited) counters.add('sign_in_limited')
        throw error
      }
    },
    signInUrl(request, mount) {
      const { authenticate, sign_in_url } = config
      if (!authenticate || sign_in_url === null || !isPageVisit(request)) return null
      const { search } = new URL(request.url)
      return sign_in_url.replaceAll('{return_to}', encodeURIComponent(`${mount.base}${mount.path}${search}`))
    },
    challenge: passwords.areConfigured ? BASIC_CHALLENGE : HOST_CHALLENGE,
    close() {
      limiter.close()
      tokens.close()
      people.close()
    },
  }
}

/** Whether a browser without credentials opens a page. A redirect would confuse scripts, streams and assets. */
function isPageVisit({ method, headers }: Request): boolean {
  if (method !== 'GET' || headers.has('authorization')) return false
  return headers.get('accept')?.includes('text/html') ?? false
}

function unauthenticatedError(passwords: Passwords): TrackerError {
  return new TrackerError(
    'unauthenticated',
    passwords.areConfigured
      ? 'Sign in with the username and password of this dashboard.'
      : 'Sign in to the application first.',
  )
}
