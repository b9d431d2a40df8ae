import { resolveConfiguration } from '../../options.js'
import { migrate } from '../../store/migrate.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { LISTEN_FLAGS, resolveEndpoint } from '../host/listen.js'
import { runHost } from '../host/run-host.js'
import { stopSignal } from '../host/stop-signal.js'
import { openTracker } from '../open-tracker.js'
import { createDatabaseFrom, runQuery, withDatabase } from '../tracker-database.js'

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run a small host application with the dashboard',
  text: 'The dashboard requires dashboard_username and dashboard_password, which have no default. Set them in the\nconfiguration file or as FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD.',
  examples: ['faultboard serve --port 8080', 'faultboard serve --database postgres://localhost/shop --migrate'],
  flags: {
    ...LISTEN_FLAGS,
    ...COMMON_FLAGS,
    migrate: { text: 'Apply pending migrations first; a SQLite file is always migrated' },
    json: { text: 'Print one line of JSON with the URL when the dashboard is ready' },
  },
  async run(flags) {
    const stop = stopSignal()
    const endpoint = resolveEndpoint(flags)
    const { settings } = await readConfiguration(flags)
    const { options } = resolveConfiguration(settings)
    if (flags.migrate) await withDatabase(options, (database) => runQuery(database, () => migrate(database)))
    const tracker = await openTracker(settings)
    try {
      const database = createDatabaseFrom(options).dialect.address
      await runHost({ tracker, endpoint, stop, database, json: flags.json })
    } finally {
      await tracker.shutdown()
    }
    return 0
  },
})
