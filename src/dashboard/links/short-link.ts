import type { Visit } from '../define.js'

interface NamedError {
  id: number
  application_name: string
}

const MAX_APPLICATION_LENGTH = 40

/** Route of short links. Only the number identifies the error, so that a link survives a renamed application. */
export const SHORT_LINK_PATH = '/e/:name{[\\w.-]*[0-9]+}'

/** Human-readable short name of an error, such as `shop-42`. */
export function shortName({ id, application_name }: NamedError): string {
  const words =
    application_name
      .toLowerCase()
      .slice(0, MAX_APPLICATION_LENGTH)
      .match(/[a-z0-9]+/g) ?? []
  return [...words, id].join('-')
}

/** Short link to an error; absolute only if `dashboard_base_url` is set. */
export function shortLink({ base, options: { dashboard_base_url } }: Visit, error: NamedError): string {
  const origin = dashboard_base_url === null ? '' : new URL(dashboard_base_url).origin
  return `${origin}${base}/e/${shortName(error)}`
}

/** Path of the error with this short name. */
export function pathOfShortName(name: string): string {
  return `/errors/${/[0-9]+$/.exec(name)?.[0]}`
}
