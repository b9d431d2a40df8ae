import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { deleteOldHours } from '../hourly/delete-old-hours.js'
import { collectDeprecations } from './collector.js'
import { deprecationOptions } from './options.js'

const lazily = lazyOperations(() => import('./query.js'))

/** Counts deprecation warnings by code, message and location. */
export const deprecationWarnings = defineDiagnostic({
  name: 'deprecations',
  options: deprecationOptions,
  needs: ['enable_deprecation_tracking', 'enable_breadcrumbs'],
  collect: ({ context }) => collectDeprecations(context),
  queries: { Deprecations: lazily('deprecations') },
  page: () => import('./page.js'),
  retention: (context) => deleteOldHours(context, 'faultboard_deprecation_hours'),
})
