import { requireCredentials } from '../../config/resolve.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { areSameCredentials, basicCredentials } from './basic.js'
import { DeviceCookies } from './device-cookie.js'
import { SignInLimited, SignInLimiter } from './limiter.js'

export interface Session {
  user: string
  /** Returns the cookie that makes this browser a known device; null while its current cookie is fresh. */
  deviceCookie(path: string, secure: boolean): Promise<string | null>
}

export interface SignIn {
  /** Throws `unauthenticated` or `SignInLimited`. */
  authenticate(headers: Headers, network: string): Promise<Session>
  close(): void
}

export function createSignIn({ config, counters, now }: Context): SignIn {
  const expected = requireCredentials(config)
  const limiter = new SignInLimiter(now)
  const devices = new DeviceCookies(expected, now)
  return {
    async authenticate(headers, network) {
      const header = headers.get('authorization')
      // A first visit without credentials is not a failed sign-in.
      if (header === null) throw unauthenticatedError()
      const credentials = basicCredentials(header)
      const name = credentials?.username ?? ''
      const device = credentials && (await devices.verify(headers.get('cookie'), name))
      const attempt = { name, secret: credentials?.password ?? header, network, device: device?.id ?? null }
      const user = await limiter
        .attempt(attempt, () => (credentials && areSameCredentials(credentials, expected) ? expected.username : null))
        .catch((error: unknown) => {
          if (error instanceof SignInLimited) counters.add('sign_in_limited')
          throw error
        })
      if (user === null) throw unauthenticatedError()
      return {
        user,
        deviceCookie: async (path, secure) =>
          device && !device.needs_renewal ? null : devices.issue(user, { path, secure }),
      }
    },
    close: () => limiter.close(),
  }
}

function unauthenticatedError(): TrackerError {
  return new TrackerError('unauthenticated', 'Sign in with the username and password of this dashboard.')
}
