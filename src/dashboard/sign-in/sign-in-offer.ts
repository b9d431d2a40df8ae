import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { cookieHeader, readCookie } from '../http/cookies.js'
import type { Mount } from '../mount.js'

const BASIC_CHALLENGE = 'Basic realm="Faultboard", charset="UTF-8"'
/** Browsers prompt for a password only after a Basic challenge. */
const HOST_CHALLENGE = 'Bearer realm="Faultboard"'

/** Query parameter that requests the Basic challenge instead of the sign-in page of the host. */
export const SIGN_IN_PARAMETER = 'sign_in'
const BY_PASSWORD = 'password'
/**
 * Remembers the parameter, because browsers send Basic credentials preemptively only below the path of the first
 * challenge. Expires with the browser session, like the credentials.
 */
const COOKIE = 'faultboard_sign_in'

/** Thrown when the callback `authenticate` fails. The message refers to the log, which contains the reason. */
export class HostSignInFailed extends TrackerError {
  constructor(hasPasswords: boolean) {
    super(
      'unauthenticated',
      `The sign-in of the application failed. Check the application log for lines that contain "authenticate".${
        hasPasswords ? ' You can still sign in with a password account of this dashboard.' : ''
      }`,
    )
  }
}

/** Ways to sign in that the response to an unauthenticated request offers. */
export interface SignInOffer {
  /** Sign-in page of the host for a browser without credentials; null if the response is 401. */
  redirect_url: string | null
  /** `WWW-Authenticate` header of a 401 response. */
  challenge: string
  /** `Set-Cookie` header of a 401 response; null for no cookie. */
  cookie: string | null
  links: readonly SignInLink[]
}

export interface SignInLink {
  label: string
  url: string
}

export function offerSignIn(
  { authenticate, sign_in_url }: Pick<Context['config'], 'authenticate' | 'sign_in_url'>,
  { error, request, mount, hasPasswords }: { error: unknown; request: Request; mount: Mount; hasPasswords: boolean },
): SignInOffer {
  const challenge = hasPasswords ? BASIC_CHALLENGE : HOST_CHALLENGE
  if (!authenticate || sign_in_url === null) return { redirect_url: null, challenge, cookie: null, links: [] }
  const hostUrl = (path: string) => sign_in_url.replaceAll('{return_to}', encodeURIComponent(`${mount.base}${path}`))
  const { search, searchParams } = new URL(request.url)
  const requestsPassword = hasPasswords && searchParams.get(SIGN_IN_PARAMETER) === BY_PASSWORD
  const usesHost =
    isPageVisit(request) &&
    !requestsPassword &&
    !(hasPasswords && readCookie(request.headers.get('cookie'), COOKIE) === BY_PASSWORD)
  const hasFailed = error instanceof HostSignInFailed
  return {
    // Not after a failure, because the sign-in page could redirect back in an endless loop.
    redirect_url: usesHost && !hasFailed ? hostUrl(`${mount.path}${search}`) : null,
    // A password dialog would hide the message.
    challenge: usesHost ? HOST_CHALLENGE : challenge,
    cookie: requestsPassword ? passwordCookie(mount) : null,
    links: [
      { label: 'Sign in with the application', url: hostUrl('/overview') },
      ...(hasPasswords
        ? [{ label: 'Sign in with a password', url: `${mount.base}/overview?${SIGN_IN_PARAMETER}=${BY_PASSWORD}` }]
        : []),
    ],
  }
}

function passwordCookie({ base, encrypted = false }: Mount): string {
  return cookieHeader(COOKIE, BY_PASSWORD, { path: base, seconds: null, secure: encrypted, same_site: 'Lax' })
}

/** Checks whether a browser opens a page. A redirect would confuse scripts, streams and assets. */
function isPageVisit({ method, headers }: Request): boolean {
  if (method !== 'GET' || headers.has('authorization')) return false
  return headers.get('accept')?.includes('text/html') ?? false
}
