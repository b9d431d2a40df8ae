import { definePage, type Rendered, type Visit } from '../../dashboard/define.js'
import { DayRange } from '../../dashboard/ui/day-range.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { PageHead } from '../../dashboard/ui/layout/page-head.js'
import { formatCount } from '../../dashboard/ui/time.js'
import { formatPercent } from '../../dashboard/ui/units.js'
import { daysInput } from '../hourly/days.js'
import { loadSources, type SourceLines } from '../source/source-code.js'
import { MAX_LOCATIONS, SwallowedExceptions, type SwallowingLocation, swallowedExceptions } from './query.js'
import { SwallowingLocationItem, shownColumns, UNACCOUNTED_NOTE } from './swallowing-location.js'

interface PageData {
  data: SwallowedExceptions
  /** Source code of the most frequent handler of each location. */
  sources: readonly (SourceLines | null)[]
}

const START_COMMAND = 'FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'

export const swallowedExceptionsPage = definePage({
  path: '/errors/swallowed_exceptions',
  text: 'Swallowed exceptions',
  role: 'viewer',
  parameters: daysInput,
  async load(context, parameters): Promise<PageData> {
    const data = await swallowedExceptions.run(context, parameters)
    return { data, sources: await loadSources(context, data.locations.map(topHandlerLine)) }
  },
  response: SwallowedExceptions,
  title: ({ data: { total_count } }) =>
    total_count > 0 ? `(${total_count}) Swallowed exceptions` : 'Swallowed exceptions',
  json: ({ data }) => data,
  view: ({ data, sources }, visit) => (
    <>
      <PageHead
        title="Swallowed exceptions"
        context={`Locations where more than ${formatPercent(data.threshold)} of the thrown exceptions were caught and never reported.`}
      >
        <DayRange days={data.days} visit={visit} />
      </PageHead>
      {data.locations.length === 0 ? (
        <NoLocations data={data} />
      ) : (
        <>
          <NotCounting data={data} />
          <Locations data={data} sources={sources} visit={visit} />
        </>
      )}
    </>
  ),
})

export const pages = [swallowedExceptionsPage]
export const navigation = {
  label: 'Swallowed exceptions',
  preview: {
    benefit:
      'Find catch blocks that hide exceptions: how often each is entered, and whether the exception is ever reported.',
    sample: {
      columns: ['Exception', 'Thrown at', 'Caught at', 'Thrown', 'Swallowed'],
      rows: [
        ['PaymentTimeout', 'src/pay/charge.js:66', 'src/pay/retry.js:19, empty catch', '1,280', '100%'],
        ['SyntaxError', 'src/cache/read.js:24', 'src/cache/read.js:27, returns a default', '342', '98.8%'],
      ],
    },
    setup: {
      text: 'Modules are instrumented while they load, so use the environment and start with:',
      code: START_COMMAND,
    },
  },
  icon: 'M3 8a5 5 0 1 0 10 0A5 5 0 1 0 3 8ZM5.8 10.2l4.4-4.4',
}

function topHandlerLine({ handlers: [handler] }: SwallowingLocation): {
  file: string | null
  line_number: number | null
} {
  const [, file, line] = /^(.+):(\d{1,9}):\d{1,9}$/.exec(handler?.rescue_location ?? '') ?? []
  return { file: file ?? null, line_number: line === undefined ? null : Number(line) }
}

function Locations({ data, sources, visit }: PageData & { visit: Visit }): Rendered {
  const { totals, total_count } = data
  const firstEmpty = data.locations.find(({ handlers: [handler] }) => handler?.handler_kind === 'empty')
  const columns = shownColumns(data.locations)
  const locations = totals.locations === 1 ? '1 location' : `${formatCount(totals.locations)} locations`
  return (
    <section class="stack" aria-label="Locations">
      <p class="muted">
        {`${formatCount(totals.raise_count)} thrown in ${locations}: ${formatCount(totals.rescue_count)} swallowed, ${formatCount(totals.reported_count)} reported`}
        {totals.unaccounted_count > 0 && (
          <>
            {', '}
            <span title={UNACCOUNTED_NOTE}>{`${formatCount(totals.unaccounted_count)} unaccounted for`}</span>
          </>
        )}
        {'.'}
      </p>
      <ol>
        {data.locations.map((location, i) => (
          <SwallowingLocationItem
            location={location}
            columns={columns}
            source={sources[i] ?? null}
            open={location === firstEmpty}
            visit={visit}
          />
        ))}
      </ol>
      {total_count > MAX_LOCATIONS && (
        <p class="muted">{`Showing the top ${MAX_LOCATIONS} of ${formatCount(total_count)} locations.`}</p>
      )}
    </section>
  )
}

/** Empty state with the reason and the next step. */
function NoLocations({ data }: { data: SwallowedExceptions }): Rendered {
  const { days, threshold, runtime, is_counting, watched_files, totals } = data
  const title = `No swallowed exceptions in the last ${days} days`
  if (runtime.reason) return <Empty title="Detection not available">{runtime.reason}</Empty>
  if (totals.raise_count > 0) {
    return (
      <Empty title={title}>
        {`${formatCount(totals.raise_count)} exceptions were thrown, ${formatPercent(totals.rescue_count / totals.raise_count)} of them caught and never reported. No location exceeds `}
        <code>swallowed_exception_threshold</code>
        {` (${threshold}).`}
      </Empty>
    )
  }
  if (is_counting) {
    return (
      <Empty title={title}>
        {`Watching ${watched_files === 1 ? '1 file' : `${formatCount(watched_files)} files`} in this process. A location appears after the next flush once more than ${formatPercent(threshold)} of its exceptions are caught and never reported.`}
      </Empty>
    )
  }
  return (
    <Empty title={`No exceptions counted in the last ${days} days`} code={START_COMMAND}>
      This process does not count exceptions, because its modules were loaded before Faultboard. Set the environment
      variable and load Faultboard first:
    </Empty>
  )
}

/** Notice that the listed counts come from other processes. */
function NotCounting({ data: { runtime, is_counting } }: { data: SwallowedExceptions }): Rendered {
  if (is_counting) return null
  return (
    <p class="callout" role="note">
      {runtime.reason ?? (
        <>
          This process does not count its own exceptions. Start it with <code>{START_COMMAND}</code>. Counts from other
          processes are shown.
        </>
      )}
    </p>
  )
}
