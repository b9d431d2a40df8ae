import { requireSignIn } from '../../config/resolve.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { isApiToken } from '../../model/people/api-token.js'
import type { Identity } from '../../model/people/identity.js'
import type { Mount } from '../mount.js'
import { basicCredentials } from './basic.js'
import { DeviceCookies } from './device-cookie.js'
import { identifyByHost } from './host-sign-in.js'
import { SignInLimitedError, SignInLimiter } from './limiter.js'
import { Passwords } from './passwords.js'
import { SeenPeople } from './seen-people.js'
import { HostSignInFailed, offerSignIn, type SignInOffer } from './sign-in-offer.js'
import { ApiTokens, bearerCredential, isBearer, unknownToken } from './tokens.js'

export interface Session {
  identity: Identity
  /** Returns the cookie that makes this browser a known device; null while its current cookie is fresh. */
  deviceCookie(path: string, secure: boolean): Promise<string | null>
}

export interface SignIn {
  /** Identifies the sender of a request. Throws `unauthenticated` or `SignInLimitedError`. */
  authenticate(request: Request, mount: Mount, network: string): Promise<Session>
  /** Returns the ways to sign in after `authenticate` rejected a request. Null for other errors. */
  offer(error: unknown, request: Request, mount: Mount): SignInOffer | null
  close(): void
}

export function createSignIn(context: Context): SignIn {
  const { config, counters, now } = context
  const shared = requireSignIn(config)
  const passwords = new Passwords(shared, config.dashboard_users)
  const tokens = new ApiTokens(context)
  const people = new SeenPeople(context)
  const limiter = new SignInLimiter(now)
  const devices = new DeviceCookies((name) => passwords.deviceSecret(name), now)
  if (shared) devices.prepare(shared.username)

  async function authenticate(request: Request, mount: Mount, network: string): Promise<Session> {
    const { headers } = request
    const header = headers.get('authorization')
    let hasHostFailed = false
    // Calls the host for every request, because the host can end a session at any time.
    const identify = async () => {
      const result = await identifyByHost(context, mount.host_request ?? request)
      hasHostFailed = result === 'failed'
      return result === 'failed' ? null : result
    }
    if (header === null) {
      // A first visit without credentials is not a failed sign-in.
      const identity = await identify()
      if (identity) return { identity, deviceCookie: async () => null }
      throw unauthenticatedError(passwords, hasHostFailed)
    }
    const bearer = bearerCredential(header)
    if (bearer !== null && isApiToken(bearer)) return authenticateByToken(bearer, network)
    const credentials = passwords.areConfigured ? basicCredentials(header) : null
    const name = credentials?.username ?? ''
    const device = credentials && (await devices.verify(headers.get('cookie'), name))
    const attempt = { name, secret: credentials?.password ?? header, network, device: device?.id ?? null }
    const identity = await limiter.attempt(
      attempt,
      // Calls the host first, because a proxy may add its own Authorization header.
      async () => (await identify()) ?? (credentials && passwords.verify(credentials)),
      identify,
    )
    if (identity === null) throw isBearer(header) ? unknownToken() : unauthenticatedError(passwords, hasHostFailed)
    const isKnown = identity.kind !== 'password' || (device && !device.needs_renewal)
    return {
      identity,
      deviceCookie: async (path, secure) => (isKnown ? null : devices.issue(identity.name, { path, secure })),
    }
  }

  /**
   * Authenticates by token only. Does not call the host, because a request with a token has exactly the role of the
   * token.
   */
  async function authenticateByToken(token: string, network: string): Promise<Session> {
    let problem = unknownToken()
    const verify = async () => {
      const result = await tokens.verify(token)
      if (!(result instanceof TrackerError)) return result
      problem = result
      return null
    }
    // Treats each token as a separate account. A wrong token then does not limit other tokens of the network.
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
        if (error instanceof SignInLimitedError) counters.add('sign_in_limited')
        throw error
      }
    },
    offer(error, request, mount) {
      if (!(error instanceof TrackerError) || error.code !== 'unauthenticated') return null
      return offerSignIn(config, { error, request, mount, hasPasswords: passwords.areConfigured })
    },
    close() {
      limiter.close()
      tokens.close()
      people.close()
    },
  }
}

function unauthenticatedError(passwords: Passwords, hasHostFailed: boolean): TrackerError {
  if (hasHostFailed) return new HostSignInFailed(passwords.areConfigured)
  return new TrackerError(
    'unauthenticated',
    passwords.areConfigured
      ? 'Sign in with the username and password of this dashboard.'
      : 'Sign in to the application first.',
  )
}
