import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CanonicalSettings, environmentVariable, type Options, resolveConfiguration } from '../../options.js'
import { migrate } from '../../store/migrate.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { copyFailingRoutes, loadFailingRoutes } from '../host/failing-routes.js'
import { LISTEN_FLAGS, resolveEndpoint } from '../host/listen.js'
import { runHost } from '../host/run-host.js'
import { sampleApp } from '../host/sample-app.js'
import { stopSignal } from '../host/stop-signal.js'
import { withTemporaryFolder } from '../host/temporary-folder.js'
import { openTracker } from '../open-tracker.js'
import { createDatabaseFrom, runQuery, withDatabase } from '../tracker-database.js'

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run a small host application with the dashboard',
  text: 'The dashboard requires dashboard_username and dashboard_password, which have no default. Set them in the\nconfiguration file or as FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD. dashboard_users or\nauthenticate can replace them.',
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
    await withTemporaryFolder('faultboard-serve-', async (folder) => {
      const routesFolder = hasProject(settings, options) ? undefined : await copyFailingRoutes(folder)
      const routes = await loadFailingRoutes(routesFolder)
      const tracker = await openTracker({ ...settings, ...(routesFolder ? withSourceIn(routesFolder, options) : {}) })
      try {
        const database = createDatabaseFrom(options).dialect.address
        await runHost({ tracker, listener: sampleApp(tracker, routes), endpoint, stop, database, json: flags.json })
      } finally {
        await tracker.shutdown()
      }
    })
    return 0
  },
})

/** Returns true if the working directory belongs to an application, whose source the dashboard shows. */
function hasProject({ project_root }: CanonicalSettings, options: Options): boolean {
  const configuredRoot = project_root ?? process.env[environmentVariable('project_root') ?? '']
  return Boolean(configuredRoot) || existsSync(join(options.project_root, 'package.json'))
}

/** Settings that show the source of the routes. Other settings that depend on the root keep their values. */
function withSourceIn(project_root: string, options: Options): Partial<CanonicalSettings> {
  const { dialect } = createDatabaseFrom(options)
  const database = dialect.isOwnFile ? { database: dialect.address } : {}
  return { project_root, application_name: options.application_name, ...database }
}
