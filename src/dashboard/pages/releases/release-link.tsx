import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'

/** A version of an application. */
export interface NamedRelease {
  application_id: number
  app_version: string
}

/** A version, leading to what it brought. */
export function ReleaseLink({ release, visit }: { release: NamedRelease; visit: Visit }): Rendered {
  return (
    <>
      <a href={releaseAddress(release, visit)}>{release.app_version}</a>
      <span class="muted">{applicationNote(release, visit)}</span>
    </>
  )
}

/** What a release brought. */
export function releaseAddress(release: NamedRelease, visit: Visit): string {
  return href(visit, '/releases', { ...namedBy(release, visit), days: visit.query.get('days') })
}

/** The parameters that name a release: where several applications are looked at, another may have the same version. */
export function namedBy(
  { app_version, application_id }: NamedRelease,
  { applications, application_id: chosen }: Visit,
) {
  return { application_id: applications.length < 2 ? chosen : application_id, app_version }
}

/** Whose version it is, where several applications are looked at. */
export function applicationNote(
  { application_id }: NamedRelease,
  { applications, application_id: chosen }: Visit,
): string {
  if (chosen !== null || applications.length < 2) return ''
  const name = applications.find(({ id }) => id === application_id)?.name
  return name ? ` of ${name}` : ''
}
