import type { Rendered, Visit } from '../define.js'
import { href } from '../links/href.js'

export interface NamedRelease {
  application_id: number
  app_version: string
}

/** Version linked to the changes of its release. */
export function ReleaseLink({ release, visit }: { release: NamedRelease; visit: Visit }): Rendered {
  return (
    <>
      <a href={releasePath(release, visit)}>{release.app_version}</a>
      <span class="muted">{applicationNote(release, visit)}</span>
    </>
  )
}

/**
 * Keeps the selected application. If all applications are selected, a separate parameter selects the application of the
 * release.
 */
export function releasePath({ app_version, application_id }: NamedRelease, visit: Visit): string {
  const isMixed = visit.application_id === null && visit.applications.length > 1
  const release_application_id = isMixed ? application_id : null
  return href(visit, '/releases', { app_version, release_application_id, days: visit.query.get('days') })
}

/** Filter of the error list for a release. Applications can share a version. */
export function releaseParameters(
  { app_version, application_id }: NamedRelease,
  { applications, application_id: selectedId }: Visit,
) {
  return { application_id: applications.length < 2 ? selectedId : application_id, app_version }
}

/** Application of the release in words, if the page mixes several applications. */
export function applicationNote(release: Pick<NamedRelease, 'application_id'>, visit: Visit): string {
  const name = mixedApplication(release, visit)
  return name === null ? '' : ` of ${name}`
}

/** Name of the application. Null if the page shows only one application. */
export function mixedApplication(
  { application_id }: Pick<NamedRelease, 'application_id'>,
  { applications, application_id: selectedId }: Visit,
): string | null {
  if (selectedId !== null || applications.length < 2) return null
  return applications.find(({ id }) => id === application_id)?.name ?? null
}
