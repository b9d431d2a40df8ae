import * as v from 'valibot'
import { readHealth } from '../../../health/health.js'
import { Health } from '../../../health/report.js'
import { BUDGETS } from '../../../model/budgets.js'
import { id, optional } from '../../../model/input/input.js'
import { DAY, HOUR, MINUTE } from '../../../model/time.js'
import { definePage, type Rendered, type Visit } from '../../define.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { formatCount, Time } from '../../ui/time.js'
import { BackgroundWork, DroppedTable, FactCard, type Facts, HealthSummary, RejectionsTable } from './panels.js'

/** Status of the tracker. Works without a database. */
export const health = definePage({
  path: '/health',
  text: 'Status of the tracker: state, reasons, buffer, drops, spool, database, jobs and process',
  role: 'viewer',
  parameters: v.object({ application_id: optional(id()) }),
  load: (context) => readHealth(context),
  title: ({ state }) => (state === 'ok' ? 'Health' : `Health: ${state}`),
  healthState: ({ state }) => state,
  response: Health,
  json: (data) => data,
  view: (data, visit) => (
    <>
      <PageHead
        title="Health"
        context={`Status of process ${data.process.pid}. Buffer, drops and spool are per process.`}
      />
      <div class="stack health">
        <HealthSummary state={data.state} reasons={data.reasons} hints={data.hints} />
        <div class="columns">
          <FactCard title="Database" rows={databaseFacts(data)} />
          <FactCard title="Writing" rows={writingFacts(data, visit)} />
          <BackgroundWork work={data.work} visit={visit} />
          <FactCard title="Process" rows={processFacts(data)} />
        </div>
        <RejectionsTable rejections={data.rejections} visit={visit} />
        <DroppedTable dropped={data.dropped.filter(({ reason }) => !Object.hasOwn(BUDGETS, reason))} />
      </div>
    </>
  ),
})

function databaseFacts({ database }: Health): Facts {
  const { migrations, search_index } = database
  return [
    ['Address', <code>{database.address}</code>],
    ['Reachable', database.reachable ? `yes (${database.latency_ms} ms)` : 'no'],
    ['Migrations', migrations && migrationsText(migrations)],
    ['Search', search_index === null ? null : search_index ? 'indexed' : 'not indexed (slower)'],
  ]
}

function migrationsText({ applied, pending }: NonNullable<Health['database']['migrations']>): string {
  if (pending.length > 0) return `${applied.length} applied, pending: ${pending.join(', ')}`
  return `up to date (${applied.length} applied)`
}

function writingFacts({ recorder, spool }: Health, visit: Visit): Facts {
  return [
    ['Buffered', plural(recorder.buffered, 'occurrence')],
    ['Queued', plural(recorder.queued, 'batch', 'batches')],
    ['Last written', timeOrNull(recorder.last_flush_at, visit) ?? 'never'],
    ['Outage since', timeOrNull(recorder.unavailable_since, visit) ?? 'no outage'],
    ['Spooled', `${plural(spool.files, 'file')}, ${formatSize(spool.bytes)} of ${formatSize(spool.max_bytes)}`],
    ['Rejected files', plural(spool.failed, 'file')],
    ['Spool folder', <code>{spool.folder}</code>],
  ]
}

function processFacts({ process }: Health): Facts {
  return [
    ['Faultboard', process.faultboard_version],
    ['Node.js', process.node_version],
    ['Process', String(process.pid)],
    ['Uptime', formatUptime(process.uptime_seconds * 1000)],
    ['Memory', formatSize(process.memory_bytes)],
  ]
}

function timeOrNull(iso: string | null, visit: Visit): Rendered {
  return iso === null ? null : <Time iso={iso} visit={visit} />
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

function formatUptime(ms: number): string {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} days`
}

function formatSize(bytes: number): string {
  if (bytes < 1_000_000) return `${formatCount(Math.round(bytes / 100) / 10)} KB`
  return `${formatCount(Math.round(bytes / 100_000) / 10)} MB`
}
