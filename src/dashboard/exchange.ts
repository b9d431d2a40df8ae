import * as v from 'valibot'
import type { Context } from '../context.js'
import { healthAtAGlance } from '../health/at-a-glance.js'
import { id } from '../model/input/input.js'
import { scopeInput } from '../model/input/scope.js'
import { VERSION } from '../model/version.js'
import { type Application, listApplications } from '../triage/list/list-applications.js'
import { cachedEnvironments } from './cached-environments.js'
import type { Visit } from './define.js'
import { readFlash } from './http/flash.js'
import type { Mount } from './mount.js'
import { readPreferences } from './preferences.js'
import { SIGN_IN_PARAMETER } from './sign-in/sign-in-offer.js'
import type { ViewConfiguration } from './view-options.js'

/** State of a request. */
export interface Exchange {
  visit: Visit
  mount: Mount
  cookies: string | null
  wantsJson: boolean
  /** Suffix of the path that selects the response format. */
  suffix: '.json' | '.csv' | ''
  /** All applications that report here. Queried at most once. */
  listApplications(): Promise<readonly Application[]>
  /** Environments of the selected application. Queried at most once. */
  listEnvironments(): Promise<readonly string[]>
}

export function openExchange(
  request: Request,
  mount: Mount,
  context: Context,
  configuration: ViewConfiguration & Pick<Visit, 'navigation'>,
): Exchange {
  const { config, now } = context
  const { searchParams } = new URL(request.url)
  searchParams.delete(SIGN_IN_PARAMETER)
  const suffix = (/[^/](\.json|\.csv)$/.exec(mount.path)?.[1] ?? '') as Exchange['suffix']
  const path = suffix ? mount.path.slice(0, -suffix.length) : mount.path.replace(/(?<=[^/])\/$/, '')
  const cookies = request.headers.get('cookie')
  const time = now()
  return {
    mount,
    cookies,
    suffix,
    wantsJson: suffix === '.json' || (suffix === '' && prefersJson(request.headers.get('accept'))),
    listApplications: runOnce(() => listApplications.run(context, {})),
    listEnvironments: runOnce(() => cachedEnvironments(context, parseApplicationId(searchParams))),
    visit: {
      base: mount.base,
      path: path === '' ? '/' : path,
      query: searchParams,
      user: '',
      identity: null,
      sign_in_links: [],
      notice: readFlash(cookies),
      banner: context.banner?.(request) ?? null,
      now: time,
      time_zone: config.time_zone,
      application_name: config.application_name,
      application_id: parseApplicationId(searchParams),
      environment: parseEnvironment(searchParams),
      ignoresEnvironment: false,
      environments: [],
      applications: [],
      ...readPreferences(cookies, time),
      tracker: { version: VERSION, state: healthAtAGlance(context) },
      ...configuration,
    },
  }
}

function runOnce<T>(query: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= query()
    return result
  }
}

/** Selected application. Pages validate the parameter themselves; an invalid id selects all applications here. */
function parseApplicationId(query: URLSearchParams): number | null {
  const result = v.safeParse(id(), query.get('application_id'))
  return result.success ? result.output : null
}

function parseEnvironment(query: URLSearchParams): string | null {
  const result = v.safeParse(scopeInput.environment, query.get('environment'))
  return (result.success && result.output) || null
}

function prefersJson(accept: string | null): boolean {
  if (!accept) return false
  const json = accept.indexOf('application/json')
  const html = accept.indexOf('text/html')
  return json >= 0 && (html < 0 || json < html)
}
