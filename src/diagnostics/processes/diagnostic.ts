import { readOptions } from '../../config/options.js'
import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { loadLater } from '../load-later.js'
import { processOptions } from './options.js'

const lazily = lazyOperations(() => import('./process-health.js'))

/** Records memory, event loop and CPU of each process, per minute and at the time of an error. */
export const processes = defineDiagnostic({
  name: 'process_health',
  options: processOptions,
  needs: ['enable_process_health'],
  collectsWith(config) {
    const { enable_process_health, enable_system_health } = readOptions(config, processOptions)
    return enable_process_health || enable_system_health
  },
  collect: (setup) =>
    loadLater(setup, 'The process', async () => (await import('./collector.js')).collectProcessHealth(setup)),
  queries: { ProcessHealth: lazily('processHealth') },
  page: () => import('./page.js'),
  retention: async (context) => (await import('./delete-old-minutes.js')).deleteOldMinutes(context),
})
