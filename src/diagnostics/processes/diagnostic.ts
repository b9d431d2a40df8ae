import { defineDiagnostic } from '../define.js'
import { loadLater } from '../load-later.js'
import { forgetProcessHealth } from './forget-process-health.js'
import { processHealth } from './process-health.js'

/** Memory, event loop and CPU of each process, per minute and at the time of an error. */
export const processes = defineDiagnostic({
  name: 'process_health',
  needs: ['enable_process_health'],
  collectsWith: ({ enable_process_health, enable_system_health }) => enable_process_health || enable_system_health,
  collect: (setup) =>
    loadLater(setup, 'The process', async () => (await import('./collector.js')).collectProcessHealth(setup)),
  queries: { ProcessHealth: processHealth },
  page: () => import('./page.js'),
  retention: forgetProcessHealth,
})
