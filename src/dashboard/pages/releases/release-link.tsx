import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'

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

export function releasePath(release: NamedRelease, visit: Visit): string {
  return href(visit, '/releases', { ...releaseParameters(release, visit), days: visit.query.get('days') })
}

/** Parameters that identify a release. Applications can share a version. */
export function releaseParameters(
  { app_version, application_id }: NamedRelease,
  { applications, application_id: selectedId }: Visit,
) {
  return { application_id: applications.length < 2 ? selectedId : application_id, app_version }
}

/** Application of the release, if the page mixes several applications. */
export function applicationNote(
  { application_id }: NamedRelease,
  { applications, application_id: selectedId }: Visit,
): string {
  if (selectedId !== null || applications.length < 2) return ''
  const name = applications.find(({ id }) => id === application_id)?.name
  return name ? ` of ${name}` : ''
}
