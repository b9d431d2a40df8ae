import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { deleteOldHours } from '../hourly/delete-old-hours.js'
import { recordSwallowedExceptions } from './detection/recorder.js'
import { swallowedOptions } from './options.js'

const lazily = lazyOperations(() => import('./query.js'))

/** Counts exceptions that are caught and never reported. */
export const swallowed = defineDiagnostic({
  name: 'swallowed_exceptions',
  options: swallowedOptions,
  needs: ['detect_swallowed_exceptions'],
  // Loaded statically, because a process can exit in the first tick of its event loop.
  collect: ({ context }) => recordSwallowedExceptions(context),
  queries: { SwallowedExceptions: lazily('swallowedExceptions') },
  page: () => import('./page.js'),
  retention: (context) => deleteOldHours(context, 'faultboard_swallowed_exceptions'),
})
