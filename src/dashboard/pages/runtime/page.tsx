import * as v from 'valibot'
import { scopeInput } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { type Destination, definePage, type Rendered, type Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Icon } from '../../ui/icons.js'
import { isEnabled } from '../../ui/layout/navigation.js'
import { PageHead } from '../../ui/layout/page-head.js'

const Diagnostics = r.object({
  diagnostics: r.list(
    r.object({
      label: r.text,
      /** Page, relative to the mount path. */
      path: r.text,
      enabled: r.boolean,
      /** Options that enable the diagnostic. */
      needs: r.list(r.text),
    }),
  ),
})
type Diagnostics = v.InferOutput<typeof Diagnostics>

/** Shows disabled diagnostics, or all diagnostics if none are disabled. Enabled diagnostics have their own tabs. */
export const runtime = definePage({
  path: '/runtime',
  text: 'Runtime diagnostics, and the options that enable them',
  role: 'viewer',
  parameters: v.object(scopeInput),
  load: async (_context, _parameters, visit): Promise<Diagnostics> => ({
    diagnostics: visit.navigation.map((destination) => ({
      label: destination.label,
      path: destination.path,
      enabled: isEnabled(destination, visit.switches),
      needs: [...(destination.needs ?? [])],
    })),
  }),
  title: () => 'Diagnostics',
  response: Diagnostics,
  json: (data) => data,
  view: (_data, visit) => {
    const disabled = visit.navigation.filter((destination) => !isEnabled(destination, visit.switches))
    return (
      <>
        <PageHead
          title="Diagnostics"
          context={
            disabled.length === 0
              ? 'All diagnostics are enabled.'
              : 'Optional diagnostics of your processes, recorded in addition to errors.'
          }
        />
        <ul class="columns">
          {(disabled.length === 0 ? visit.navigation : disabled).map((destination) => (
            <FeatureCard destination={destination} visit={visit} />
          ))}
        </ul>
      </>
    )
  },
})

function FeatureCard({ destination, visit }: { destination: Destination; visit: Visit }): Rendered {
  const { label, icon, path, preview } = destination
  return (
    <li class="card">
      <h2 class="with-icon">
        {icon && <Icon path={icon} />}
        <a href={href(visit, path)}>{label}</a>
      </h2>
      <p>{preview?.benefit}</p>
    </li>
  )
}
