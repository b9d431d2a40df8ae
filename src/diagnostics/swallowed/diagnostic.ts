import { defineDiagnostic } from '../define.js'
import { deleteOldHours } from '../hourly/delete-old-hours.js'
import { keepSwallowed } from './detection/keeper.js'
import { swallowedOptions } from './options.js'
import { swallowedExceptions } from './query.js'

/** Exceptions that are caught and never reported. */
export const swallowed = defineDiagnostic({
  name: 'swallowed_exceptions',
  options: swallowedOptions,
  needs: ['detect_swallowed_exceptions'],
  // Loaded statically, because a process that ends in its first turn has counted by then.
  collect: ({ context }) => keepSwallowed(context),
  queries: { SwallowedExceptions: swallowedExceptions },
  page: () => import('./page.js'),
  retention: (context) => deleteOldHours(context, 'faultboard_swallowed_exceptions'),
})
