import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { deleteOldHours } from '../hourly/delete-old-hours.js'
import { collectRepeatedStatements } from './collector.js'
import { nPlusOneOptions } from './options.js'

const lazily = lazyOperations(() => import('./query.js'))

/** Counts statements that one request or job repeats. */
export const nPlusOne = defineDiagnostic({
  name: 'n_plus_one',
  options: nPlusOneOptions,
  needs: ['detect_n_plus_one_queries', 'enable_breadcrumbs'],
  collect: ({ context }) => collectRepeatedStatements(context),
  queries: { NPlusOneQueries: lazily('nPlusOneQueries') },
  page: () => import('./page.js'),
  retention: (context) => deleteOldHours(context, 'faultboard_repeated_statement_hours'),
})
