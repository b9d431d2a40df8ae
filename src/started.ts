import type { CaptureContext } from './capture/capture-context.js'
import { prepareForStackEnd, sendDeferredReports, whenStackAllows } from './capture/guards/deferred-reports.js'
import { Sightings } from './capture/guards/sightings.js'
import { FAILED, logError } from './capture/log-error.js'
import type { Reporter, Source } from './capture/sources/source.js'
import { listen } from './capture/sources/sources.js'
import { countSwallowed } from './capture/swallowed/count-swallowed.js'
import { compose, type Surroundings } from './compose.js'
import type { Settings } from './config/options.js'
import type { Context } from './context.js'
import type { Dashboard } from './dashboard/handler.js'
import { reasonOf } from './jobs/reason.js'
import { atExit } from './store/spool/at-exit.js'
import { flushAtExit } from './store/spool/flush-at-exit.js'
import { answerWorkers } from './store/spool/threads.js'
import { startWork, type Work } from './work.js'

/** A tracker at work: everything that its configuration asks for is open, hooked and running. */
export interface Started {
  context: CaptureContext
  /** Loaded with the first request: a process that only records never needs it. */
  dashboard(): Promise<Dashboard>
  sightings: Sightings
  /** Null where the database must not be touched. */
  work: Work | null
  attach(source: Source): () => void
  /** Ends what was attached; what it still had to report is handed over. */
  detachAll(): void
  stop(): void
}

/** Opens, hooks and runs everything that the settings ask for. Throws a ConfigurationError that names every problem. */
export function start(
  settings: Settings,
  surroundings: Required<Surroundings>,
  pools: CaptureContext['pools'] = new Map(),
): Started {
  prepareForStackEnd()
  const { context, by_spool } = compose(settings, surroundings, pools)
  const sightings = new Sightings()
  const reporter: Reporter = {
    context,
    report(thrown, more, occasion) {
      whenStackAllows(() => {
        const request = occasion ?? context.scopes.current()?.request ?? null
        if (!sightings.isNew(thrown, request)) return
        if (logError(context, { ...more, exception: thrown }) !== FAILED) sightings.recorded(thrown, request)
      })
    },
  }
  const stopListening = listen(reporter)
  const stopCounting = countSwallowed(context)
  const stopWatching = watchIfAsked(context, { writes: !by_spool })
  context.variables?.start()
  const attached = new Set<() => void>()
  const stopKeepingHouse = keepHouse(context)
  const work = by_spool ? null : startWork(context)
  let dashboard: Promise<Dashboard> | null = null
  // One that could not be loaded has told whoever asked for it.
  const closeDashboard = () => void dashboard?.then(({ close }) => close()).catch(() => {})
  return {
    context,
    dashboard() {
      dashboard ??= import('./dashboard/handler.js').then(({ createDashboard }) => createDashboard(context))
      return dashboard
    },
    sightings,
    work,
    attach(source) {
      context.scopes.wanted()
      const end = source(reporter)
      const detach = () => {
        if (attached.delete(detach)) end()
      }
      attached.add(detach)
      return detach
    },
    detachAll() {
      for (const detach of [...attached].reverse()) detach()
      closeDashboard()
    },
    stop() {
      closeDashboard()
      stopListening()
      stopCounting()
      context.variables?.stop()
      stopWatching()
      context.scopes.stop()
      stopKeepingHouse()
    },
  }
}

/** Nothing is loaded, and nothing listens, where no switch asks for it. */
function watchIfAsked(context: CaptureContext, parts: { writes: boolean }): () => void {
  const { enable_diagnostic_dump, enable_system_health, enable_process_health } = context.config
  if (!enable_diagnostic_dump && !enable_system_health && !enable_process_health) return () => {}
  let end: (() => void) | null = () => {}
  void import('./diagnostics/health/watch-process.js')
    .then(({ watchProcess }) => {
      if (end) end = watchProcess(context, parts)
    })
    .catch((error: unknown) => context.log.warn(`The process cannot be measured: ${reasonOf(error)}`))
  return () => {
    end?.()
    end = null
  }
}

/** What goes on beside the host's work until the tracker stops: the last flush, and what workers leave. */
function keepHouse(context: Context): () => void {
  const stopSending = atExit('late_reports', sendDeferredReports)
  const stopFlushing = flushAtExit(context.recorder)
  const stopAnswering = answerWorkers(context.spool.folder, () => void context.recorder.import())
  return () => {
    stopAnswering()
    stopFlushing()
    stopSending()
  }
}
