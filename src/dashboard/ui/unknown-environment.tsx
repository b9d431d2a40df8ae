import type { Rendered, Visit } from '../define.js'
import { currentPageWith } from '../links/href.js'
import { Empty } from './empty.js'
import { PageHead } from './layout/page-head.js'

/** Page for an environment without errors, with links to the known environments. */
export function UnknownEnvironment({ visit }: { visit: Visit }): Rendered {
  return (
    <>
      <PageHead title="Unknown environment" />
      <Empty title={`No errors in the environment ${visit.environment}`}>
        Select one of the known environments:{' '}
        {visit.environments.map((environment, i) => (
          <>
            {i > 0 && ', '}
            <a href={currentPageWith(visit, { environment })}>
              <bdi>{environment}</bdi>
            </a>
          </>
        ))}
        {', or '}
        <a href={currentPageWith(visit, { environment: null })}>all environments</a>.
      </Empty>
    </>
  )
}
