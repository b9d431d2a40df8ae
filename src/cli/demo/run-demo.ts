import { HOST_CODE } from '../../model/people/audit.js'
import { OPTION_NAMES, type Options, optionRow, type Settings } from '../../options.js'
import type { TrackerInstance } from '../../tracker.js'
import type { Endpoint } from '../host/listen.js'
import { runHost } from '../host/run-host.js'
import { aborted } from '../host/stop-signal.js'
import { openTracker } from '../open-tracker.js'
import { createDatabaseFrom } from '../tracker-database.js'
import { demoBanner } from './banner.js'
import { STOREFRONT } from './kinds/storefront.js'
import { copyLarder } from './larder.js'
import { demoQuietHours } from './past-deliveries.js'
import { openReceiver, type Receiver } from './receiver.js'
import { openShop, watchShop } from './shop.js'
import { SHOP_VERSION } from './shop-paths.js'
import { SimulationProcess } from './simulation-process.js'

export interface DemoOptions {
  /** The configuration. Only the options of the dashboard are used. */
  options: Options
  database: string
  application_name: string | undefined
  /** Folder for everything that the demo writes. */
  folder: string
  seed: number
  endpoint: Endpoint
  stop: AbortSignal
  /** Generated password, or null for a configured password, which is not printed. */
  password: string | null
  /** Print one line of JSON instead of text. */
  json: boolean
}

/** Runs the shop with its dashboard in this process, and its customers in another process, until stopped. */
export async function runDemo(demo: DemoOptions): Promise<void> {
  const { database, seed, endpoint, stop, password, json } = demo
  const now = Date.now()
  const simulation = new SimulationProcess()
  // Prevents Node.js from printing deprecation warnings of the shop.
  process.removeAllListeners('warning')
  const receiver = await openReceiver()
  const larder = await copyLarder(demo.folder)
  watchShop(larder)
  const banner = { newErrorId: null as number | null, version: SHOP_VERSION }
  const tracker = await openTracker(demoSettings(demo, larder, receiver, now), {
    env: {},
    origin: HOST_CODE,
    banner: (request) => demoBanner(request, { mount_path: tracker.config.mount_path, ...banner }),
    isRecordingHistory: () => !simulation.isHistoryComplete,
  })
  try {
    const shop = await openShop(larder, tracker)
    const prepare = async (shop_url: string) => {
      await Promise.race([simulation.start({ database, seed, now, shop_url }), aborted(stop)])
      banner.newErrorId = await findNewError(tracker)
      await tracker.Commands.CaptureDiagnosticDump.call({ note: 'After the release of 5.13.0' })
    }
    await runHost({
      ...{ tracker, listener: shop.listener, endpoint, stop, prepare, password, json },
      database: createDatabaseFrom(tracker.config).dialect.address,
    })
    await simulation.stop()
    shop.close()
  } finally {
    await simulation.stop()
    await tracker.shutdown()
    await receiver.close()
  }
}

/** The error that the newest release of the shop introduced. */
async function findNewError({ Queries }: TrackerInstance): Promise<number | null> {
  const [error] = await Queries.ErrorsList.call({ error_type: 'OrderNotSavedError' })
  return error?.id ?? null
}

/**
 * Only the dashboard options come from the configuration. The rest belongs to the real application; its spool, for
 * example, would be imported here and lost there.
 */
function demoSettings(
  { options, database, application_name = 'storefront' }: DemoOptions,
  project_root: string,
  { chat_webhook_url, webhook_url }: Receiver,
  now: number,
): Settings {
  const served = OPTION_NAMES.filter((name) => optionRow(name).group === 'dashboard' || name === 'time_zone')
  return {
    ...Object.fromEntries(served.map((name) => [name, options[name]])),
    ...{ database, application_name, project_root, app_version: SHOP_VERSION, environment: 'production' },
    ...DIAGNOSTICS,
    // Customers send their address in a header.
    trusted_proxies: ['loopback'],
    custom_severity_rules: STOREFRONT.flatMap(({ type, severity }) =>
      severity ? [[new RegExp(`^${type}$`), severity] as const] : [],
    ),
    enable_chat_notifications: true,
    ...{ chat_webhook_url, webhook_url },
    quiet_hours: demoQuietHours(now),
    quiet_hours_bypass_severity: 'medium',
  }
}

/** Enables every diagnostic. Flushes counts early, so that they soon appear on the pages. */
const DIAGNOSTICS: Settings = {
  enable_breadcrumbs: true,
  enable_local_variables: true,
  local_variable_mode: 'always',
  // Many errors occur in the first seconds.
  local_variable_max_per_second: 100,
  local_variable_max_pause_ms_per_second: 500,
  enable_instance_variables: true,
  detect_n_plus_one_queries: true,
  detect_swallowed_exceptions: true,
  swallowed_exception_flush_interval: 5,
  enable_deprecation_tracking: true,
  enable_request_guard_tracking: true,
  enable_system_health: true,
  enable_process_health: true,
  enable_diagnostic_dump: true,
}
